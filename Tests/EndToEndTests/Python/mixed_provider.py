"""A provider that is not ours (python-h2): pushes of several types, sizes, priorities and topics over several connections.

Usage: mixed_provider.py PORT CONNECTIONS COUNT. Plain HTTP/2 with prior knowledge. Prints one line of JSON a push, in the order in
which they were sent: connection, type, priority, topic, size, device, expiration, collapse id; null for a header that was left out.
"""

import json
import select
import socket
import sys
import time

import h2.config
import h2.connection
import h2.events

APP = "com.example.pushload"
KINDS = [
    {"type": "alert", "priority": "10", "topic": APP, "size": 300},
    {"type": "background", "priority": "5", "topic": APP, "size": 80},
    {"type": "voip", "priority": None, "topic": APP + ".voip", "size": 5000},
    {"type": "liveactivity", "priority": "5", "topic": APP + ".push-type.liveactivity", "size": 900},
    {"type": None, "priority": None, "topic": "com.example.other", "size": 120},
    {"type": "alert", "priority": "5", "topic": APP, "size": 40},
]
PAYLOADS = {
    "background": '{"aps":{"content-available":1}',
    "liveactivity": '{"aps":{"timestamp":1700000000,"event":"update","content-state":{}}',
}


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.answered = 0
        self.sent = 0
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def send(self, push, payload):
        stream = self.h2.get_next_available_stream_id()
        headers = [(":method", "POST"), (":scheme", "http"), (":authority", "127.0.0.1"), (":path", "/3/device/" + push["device"])]
        for name, value in [
            ("apns-topic", push["topic"]), ("apns-push-type", push["type"]), ("apns-priority", push["priority"]),
            ("apns-expiration", push["expiration"]), ("apns-collapse-id", push["collapse_id"]),
        ]:
            if value is not None:
                headers.append((name, value))
        self.h2.send_headers(stream, headers)
        self.h2.send_data(stream, payload, end_stream=True)
        self.flush()
        self.sent += 1
        # Answers, and windows that the server opens.
        while select.select([self.socket], [], [], 0)[0]:
            self.read()

    def read(self):
        for event in self.h2.receive_data(self.socket.recv(65536)):
            if isinstance(event, h2.events.StreamEnded):
                self.answered += 1
        self.flush()

    def finish(self):
        while self.answered < self.sent:
            self.read()
        self.socket.close()


def main(port, connections, count):
    pool = [Connection(port) for _ in range(connections)]
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        push = dict(
            kind, connection=number * 7 % connections, device=f"{number % 11 + 10:064x}",
            expiration=[None, "0", "1900000000"][number % 3], collapse_id=f"news-{number % 4}" if number % 5 == 0 else None)
        head = PAYLOADS.get(kind["type"], '{"aps":{"alert":"hello"}')
        payload = (head + "," + '"x":"' + "y" * (kind["size"] - len(head) - 8) + '"}').encode()
        assert len(payload) == kind["size"]
        pool[push["connection"]].send(push, payload)
        print(json.dumps(push))
        # Never the same gap twice in a row.
        time.sleep(0.001 + number % 3 * 0.002)
    for connection in pool:
        connection.finish()


main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
