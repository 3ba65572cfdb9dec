"""aioapns (PyPI): one push many times over one connection, with h2load's flags and a CA; prints what nio-push does."""

import argparse
import asyncio
import json
import logging
import ssl
import sys
import time
import urllib.parse

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol, JWTAuthorizationHeaderProvider
from h2.events import ResponseReceived


class Protocol(APNsProductionClientProtocol):
    """Takes answers of nginx and nghttpd too: without the apns-id that aioapns knows them by, with empty DATA."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.receive, self.conn.receive_data = self.conn.receive_data, self.received

    def received(self, data):
        events = self.receive(data)
        for event in events:
            if isinstance(event, ResponseReceived):
                event.headers.append((b"apns-id", self.request_streams[event.stream_id].encode()))
        return events

    def on_data_received(self, data, stream):
        if data:
            super().on_data_received(data, stream)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=1000)
    parser.add_argument("-m", type=int, default=500)
    parser.add_argument("-d", required=True)
    parser.add_argument("-H", action="append", default=[])
    parser.add_argument("--cacert", required=True)
    parser.add_argument("url")
    options = parser.parse_args()
    url = urllib.parse.urlsplit(options.url)
    fields = dict(field.split(": ", 1) for field in options.H)
    with open(options.d) as file:
        message = json.load(file)
    Protocol.APNS_SERVER, Protocol.APNS_PORT = url.hostname, url.port
    # The token that the others send, instead of one of its own.
    JWTAuthorizationHeaderProvider.get_header = lambda _: fields["authorization"]
    trust = ssl.create_default_context(cafile=options.cacert)
    trust.set_alpn_protocols(["h2"])
    client = APNs(key="-", key_id="-", team_id="-", topic=fields["apns-topic"], ssl_context=trust, max_connections=1)
    client.pool.protocol_class = Protocol
    # It warns of every stream that nginx resets after the answer.
    logging.disable()
    left, others = iter(range(options.n)), []

    async def stream():
        for _ in left:
            result = await client.send_notification(NotificationRequest(
                device_token=url.path.rsplit("/", 1)[1], message=message, priority=int(fields["apns-priority"]),
                push_type=PushType(fields["apns-push-type"])))
            if not result.is_successful:
                others.append(f"{result.status} {result.description}")

    begin = time.monotonic()
    await asyncio.gather(*(stream() for _ in range(options.m)))
    seconds = time.monotonic() - begin
    if others:
        sys.exit(f"{len(others)} of {options.n} not answered with 200: {others[0]}")
    print(f"{options.n} of {options.n} answered with 200, {options.n / seconds} a second")


try:
    asyncio.run(main())
except Exception as error:
    sys.exit(repr(error))
