#!/usr/bin/env python3
"""Sends pushes with aioapns (PyPI) to mock-apns, trusting its CA; prints what each was answered.

    pip install aioapns
    mock-apns --port 2197 --credentials ./credentials &
    ./aioapns_push.py ./credentials 2197 <device token> [<device token> …]
"""

import asyncio
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest
from aioapns.connection import APNsProductionClientProtocol


async def main(credentials, port, tokens):
    # aioapns names Apple's host itself; this is the way to give it another.
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = port
    with open(f"{credentials}/credentials.json") as file:
        ids = json.load(file)
    with open(f"{credentials}/AuthKey.p8") as file:
        key = file.read()
    trust = ssl.create_default_context(cafile=f"{credentials}/ca.pem")
    trust.set_alpn_protocols(["h2"])
    client = APNs(
        key=key, key_id=ids["key_id"], team_id=ids["team_id"], topic=ids["topic"], ssl_context=trust,
        err_func=ignore, max_connections=1)
    requests = [
        NotificationRequest(device_token=token, message={"aps": {"alert": "hello"}}) for token in tokens]
    for request, result in zip(requests, await asyncio.gather(*map(client.send_notification, requests))):
        print(request.device_token, result.status, result.description or "accepted")


async def ignore(request, result):
    pass


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
