"""aioapns (PyPI): COUNT pushes at once over one connection. Usage: aioapns_burst.py FOLDER PORT COUNT."""

import asyncio
import collections
import importlib.metadata
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest
from aioapns.connection import APNsProductionClientProtocol


async def main(folder, port, count):
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = int(port)
    with open(f"{folder}/credentials.json") as file:
        ids = json.load(file)
    with open(f"{folder}/AuthKey.p8") as file:
        key = file.read()
    trust = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    trust.set_alpn_protocols(["h2"])
    client = APNs(
        key=key, key_id=ids["key_id"], team_id=ids["team_id"], topic=ids["topic"], ssl_context=trust, max_connections=1)
    requests = [NotificationRequest(device_token=f"{index:064x}", message={"aps": {"alert": "hello"}}) for index in range(count)]
    results = await asyncio.gather(*map(client.send_notification, requests))
    answers = collections.Counter(str(result.status) for result in results)
    print(json.dumps({"version": f"aioapns {importlib.metadata.version('aioapns')}", "answers": answers}))


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
