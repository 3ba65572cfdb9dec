"""A client that does everything wrong, in clear text. Usage: mock-apns exam --plaintext -- reckless_client.py

It sends every push at once over one connection, whatever limits and windows it has acknowledged; a push that is not accepted it sends
again at once on the same connection, up to seven times; it goes on behind GOAWAY, opens connections without end while the server is
down, and acknowledges no PING where that is examined.
"""

import base64
import json
import os
import socket
import sys
import time

import hpack
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from hyperframe.frame import DataFrame, Frame, GoAwayFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame


def part(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def provider_token(exam):
    with open(exam["EXAM_KEY"], "rb") as file:
        key = serialization.load_pem_private_key(file.read(), None)
    text = ".".join(part(json.dumps(value).encode()) for value in (
        {"alg": "ES256", "kid": exam["EXAM_KEY_ID"]}, {"iss": exam["EXAM_TEAM_ID"], "iat": int(time.time())}))
    r, s = utils.decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
    return "bearer " + text + "." + part(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


class Reckless:
    def __init__(self, exam):
        self.address = (exam["EXAM_HOST"], int(exam["EXAM_PORT"]))
        self.token, self.topic = provider_token(exam), exam["EXAM_TOPIC"]
        with open(exam["EXAM_TOKENS"]) as file:
            self.devices = file.read().split()
        self.tries, self.streams, self.next, self.late = {}, {}, 1, None
        self.answers_pings = exam["EXAM_SITUATION"] != "ping"

    def run(self):
        end = time.monotonic() + 2
        while time.monotonic() < end:
            try:
                self.serve(socket.create_connection(self.address, 1), end)
            except OSError:
                pass

    def serve(self, connection, end):
        connection.settimeout(0.1)
        self.connection, self.encoder, self.decoder, self.next = connection, hpack.Encoder(), hpack.Decoder(), 1
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SettingsFrame(0).serialize())
        buffer, has_sent = b"", False
        while time.monotonic() < end:
            if self.late and time.monotonic() > self.late:
                self.late = None
                for device in self.devices[-3:]:
                    self.push(device)
            try:
                data = connection.recv(65536)
            except TimeoutError:
                continue
            if not data:
                return
            buffer += data
            while len(buffer) >= 9:
                frame, length = Frame.parse_frame_header(memoryview(buffer[:9]))
                if len(buffer) < 9 + length:
                    break
                frame.parse_body(memoryview(buffer[9:9 + length]))
                buffer = buffer[9 + length:]
                if isinstance(frame, SettingsFrame) and "ACK" not in frame.flags:
                    # It knows, and does not care.
                    connection.sendall(SettingsFrame(0, flags=["ACK"]).serialize())
                    if not has_sent:
                        for device in self.devices:
                            self.push(device)
                    has_sent = True
                else:
                    self.take(frame)

    def take(self, frame):
        device = self.streams.get(frame.stream_id)
        if isinstance(frame, HeadersFrame):
            if dict(self.decoder.decode(frame.data)).get(":status") != "200":
                self.again(device)
        elif isinstance(frame, RstStreamFrame):
            self.again(device)
        elif isinstance(frame, GoAwayFrame):
            self.late = time.monotonic() + 0.4
        elif isinstance(frame, PingFrame) and self.answers_pings:
            self.connection.sendall(PingFrame(0, frame.opaque_data, flags=["ACK"]).serialize())

    def again(self, device):
        if self.tries[device] < 8:
            self.push(device)

    def push(self, device):
        self.tries[device] = self.tries.get(device, 0) + 1
        self.streams[self.next] = device
        block = self.encoder.encode([
            (":method", "POST"), (":scheme", "http"), (":path", f"/3/device/{device}"), ("authorization", self.token),
            ("apns-topic", self.topic), ("apns-push-type", "alert")])
        self.connection.sendall(
            HeadersFrame(self.next, block, flags=["END_HEADERS"]).serialize()
            + DataFrame(self.next, b'{"aps":{"alert":"hello"}}', flags=["END_STREAM"]).serialize())
        self.next += 2


if __name__ == "__main__":
    sys.exit(Reckless(os.environ).run())
