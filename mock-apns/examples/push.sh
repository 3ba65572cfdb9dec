#!/bin/sh
# One push with curl. Usage: push.sh CREDENTIALS PORT DEVICE; the provider token is in TOKEN, or made of the credentials.
set -eu
credentials=$1 port=$2 device=$3
token=${TOKEN:-$(mock-apns token --credentials "$credentials")}
answer=$(curl --silent --show-error --http2 --cacert "$credentials/ca.pem" --write-out '\n%{http_code}' \
    -H "authorization: $token" -H "apns-topic: com.example.app" -H "apns-push-type: alert" \
    -d '{"aps":{"alert":"hello"}}' "https://localhost:$port/3/device/$device")
body=${answer%
*} status=${answer##*
}
if [ "$status" != 200 ]; then
    # {"reason":"…"}; 410 Unregistered: forget the device; 429 and 503: try again later.
    echo "$status $body" >&2
    exit 1
fi
echo "$status"
