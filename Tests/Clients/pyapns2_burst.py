"""PyAPNs2 (apns2 on PyPI) with its own HTTP/2 client, hyper: COUNT pushes. Usage: pyapns2_burst.py FOLDER PORT COUNT.

hyper looks for abstract classes where Python kept them until 3.9; they are put there before it is loaded.
"""

import collections
import collections.abc
import importlib.metadata
import json
import ssl
import sys

for name in ["Iterable", "Mapping", "MutableMapping", "MutableSet"]:
    setattr(collections, name, getattr(collections.abc, name))

from apns2.client import APNsClient, Notification  # noqa: E402
from apns2.credentials import TokenCredentials  # noqa: E402
from apns2.payload import Payload  # noqa: E402


class LocalCredentials(TokenCredentials):
    """Those of the folder, which trust its authority; PyAPNs2 itself has no way to say so."""

    def __init__(self, folder):
        with open(f"{folder}/credentials.json") as file:
            ids = json.load(file)
        super().__init__(f"{folder}/AuthKey.p8", ids["key_id"], ids["team_id"])
        trust = ssl.create_default_context(cafile=f"{folder}/ca.pem")
        trust.set_alpn_protocols(["h2"])
        self._Credentials__ssl_context = trust


def main(folder, port, count):
    APNsClient.LIVE_SERVER, APNsClient.DEFAULT_PORT = "localhost", int(port)
    client = APNsClient(LocalCredentials(folder))
    pushes = [Notification(f"{index:064x}", Payload(alert="hello")) for index in range(count)]
    results = client.send_notification_batch(pushes, "com.example.app")
    answers = collections.Counter("200" if result == "Success" else str(result) for result in results.values())
    version = f"apns2 {importlib.metadata.version('apns2')}, hyper {importlib.metadata.version('hyper')}"
    print(json.dumps({"version": version, "answers": answers}))


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
