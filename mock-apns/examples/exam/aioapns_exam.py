#!/usr/bin/env python3
"""aioapns (PyPI) in an exam: one push to each device token, all at once, and what aioapns makes of it.

    mock-apns exam -- ./aioapns_exam.py

Sends nothing again by itself: only what aioapns does is examined.
"""

import asyncio
import os
import ssl

from aioapns import APNs, NotificationRequest
from aioapns.connection import APNsProductionClientProtocol


async def main(exam):
    # aioapns names Apple's host itself; this is the way to give it another.
    APNsProductionClientProtocol.APNS_SERVER = exam["EXAM_HOST"]
    APNsProductionClientProtocol.APNS_PORT = int(exam["EXAM_PORT"])
    with open(exam["EXAM_KEY"]) as file:
        key = file.read()
    with open(exam["EXAM_TOKENS"]) as file:
        tokens = file.read().split()
    trust = ssl.create_default_context(cafile=exam["EXAM_CA"])
    trust.set_alpn_protocols(["h2"])
    client = APNs(
        key=key, key_id=exam["EXAM_KEY_ID"], team_id=exam["EXAM_TEAM_ID"], topic=exam["EXAM_TOPIC"], ssl_context=trust,
        err_func=ignore, max_connections=1)
    requests = [NotificationRequest(device_token=token, message={"aps": {"alert": "hello"}}) for token in tokens]
    await asyncio.gather(*map(client.send_notification, requests), return_exceptions=True)


async def ignore(request, result):
    pass


if __name__ == "__main__":
    asyncio.run(main(os.environ))
