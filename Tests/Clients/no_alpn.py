"""HTTP/2 as Pushy speaks it: over TLS without ALPN, preface at once; the library is h2 (PyPI).

Usage: no_alpn.py FOLDER PORT COUNT [PROTOCOLS]; the provider token is in TOKEN. With PROTOCOLS (comma-separated) ALPN offers them.
"""

import collections
import importlib.metadata
import json
import os
import socket
import ssl
import sys

import h2.config
import h2.connection
import h2.events
import h2.settings


def main(folder, port, count, protocols=None):
    trust = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    if protocols:
        trust.set_alpn_protocols(protocols.split(","))
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
    answers = collections.Counter()
    with socket.create_connection(("localhost", port), timeout=60) as plain:
        with trust.wrap_socket(plain, server_hostname="localhost") as stream:
            connection.initiate_connection()
            left = count
            while sum(answers.values()) < count:
                # No more than is allowed, which is one until the first answer; before SETTINGS came this library knows no limit.
                while left > 0 and connection.open_outbound_streams < min(100, connection.remote_settings.max_concurrent_streams):
                    send(connection, left)
                    left -= 1
                stream.sendall(connection.data_to_send())
                received = stream.recv(65536)
                if not received:
                    answers["the connection was closed"] += count - sum(answers.values())
                    break
                for event in connection.receive_data(received):
                    if isinstance(event, h2.events.ResponseReceived):
                        answers[dict(event.headers)[":status"]] += 1
                    elif isinstance(event, h2.events.StreamReset):
                        answers[f"reset with {event.error_code!r}"] += 1
    version = f"h2 {importlib.metadata.version('h2')}, {ssl.OPENSSL_VERSION}"
    print(json.dumps({"version": version, "answers": answers}))


def send(connection, number):
    stream = connection.get_next_available_stream_id()
    # In Pushy's order, with its expiration.
    connection.send_headers(
        stream,
        [
            (":method", "POST"), (":authority", "localhost"), (":path", f"/3/device/{number:064x}"), (":scheme", "https"),
            ("apns-expiration", "0"), ("apns-priority", "10"), ("apns-push-type", "alert"), ("apns-topic", "com.example.app"),
            ("authorization", os.environ["TOKEN"]),
        ])
    connection.send_data(stream, b'{"aps":{"alert":"hello"}}', end_stream=True)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
