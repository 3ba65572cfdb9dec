"""aioapns (PyPI): COUNT pushes of two types to few devices, at most 20 at once. Usage: aioapns_mixed.py FOLDER PORT COUNT CONNECTIONS."""

import asyncio
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol


async def main(folder, port, count, connections):
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = int(port)
    with open(f"{folder}/credentials.json") as file:
        ids = json.load(file)
    with open(f"{folder}/AuthKey.p8") as file:
        key = file.read()
    trust = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    trust.set_alpn_protocols(["h2"])
    client = APNs(
        key=key, key_id=ids["key_id"], team_id=ids["team_id"], topic=ids["topic"], ssl_context=trust,
        max_connections=connections)
    limit = asyncio.Semaphore(20)

    async def send(number):
        async with limit:
            silent = number % 3 == 0
            message = {"aps": {"content-available": 1}} if silent else {"aps": {"alert": "hello " + "x" * (number % 50)}}
            request = NotificationRequest(
                device_token=f"{number % 17:064x}", message=message, priority=5 if silent else 10,
                push_type=PushType.BACKGROUND if silent else PushType.ALERT,
                collapse_key="score" if number % 4 == 0 else None)
            return await client.send_notification(request)

    results = await asyncio.gather(*map(send, range(count)))
    print(sum(result.is_successful for result in results))


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
