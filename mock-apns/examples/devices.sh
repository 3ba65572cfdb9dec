#!/bin/sh
# A device that is offline: its push is stored, and delivered when it is back. Usage: devices.sh [credentials] [port] [admin port]
set -eu
credentials=${1:-./credentials} port=${2:-2197} admin=http://127.0.0.1:${3:-2199}
device=$(mock-apns device-token 1)
token=$(mock-apns token --credentials "$credentials")
curl -s -X PUT -d '{offline: true}' "$admin/devices/$device"
curl -s -o /dev/null -w '%{http_code}\n' --http2 --cacert "$credentials/ca.pem" -H "authorization: $token" \
    -H "apns-topic: com.example.app" -d '{"aps":{"alert":"stored"}}' "https://127.0.0.1:$port/3/device/$device"
# What its event stream shows within two seconds of coming back.
curl -sN --max-time 3 "$admin/events?token=$device" &
sleep 1
curl -s -X PUT -d '{offline: false}' "$admin/devices/$device"
wait $! || true
