#!/bin/sh
# One push with curl. Usage: push.sh [credentials folder] [port] [admin port]
set -eu
credentials=${1:-./credentials} port=${2:-2197} admin=${3:-2199}
token=$(pushload token --credentials "$credentials")
device=$(pushload device-token 0)
curl -i --http2 --cacert "$credentials/ca.pem" -H "authorization: $token" -H "apns-topic: com.example.app" \
    -H "apns-push-type: alert" -d '{"aps":{"alert":"hello"}}' "https://127.0.0.1:$port/3/device/$device"
curl -s "http://127.0.0.1:$admin/pushes?token=$device"
