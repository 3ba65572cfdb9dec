"""Run with a mock beside it: with-mock-apns -- python3 -m unittest test_push.py"""

import json
import os
import unittest
import urllib.request

from push import connect, push

DEVICE = "0a" * 32


def admin(path, method="GET", body=None):
    request = urllib.request.Request(os.environ["MOCK_APNS_ADMIN"] + path, method=method, data=body)
    with urllib.request.urlopen(request) as answer:
        return answer.read()


class PushTest(unittest.TestCase):
    def setUp(self):
        admin("/reset", "POST")
        self.client = connect(os.environ["MOCK_APNS_CREDENTIALS"], os.environ["MOCK_APNS_PORT"])
        self.addCleanup(self.client.close)

    def test_a_push_arrives(self):
        self.assertEqual(push(self.client, DEVICE, {"aps": {"alert": "hello"}}), (200, None))
        [arrived] = json.loads(admin(f"/pushes?token={DEVICE}"))
        self.assertEqual(arrived["payload"], '{"aps":{"alert":"hello"}}')

    def test_a_device_that_is_gone(self):
        admin(f"/devices/{DEVICE}", "PUT", b"{state: unregistered}")
        self.assertEqual(push(self.client, DEVICE, {"aps": {"alert": "hello"}}), (410, "Unregistered"))
