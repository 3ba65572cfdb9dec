#!/usr/bin/env python3
"""One push with httpx (pip install 'httpx[http2]'). Usage: push.py CREDENTIALS PORT DEVICE; the provider token is in TOKEN."""

import os
import ssl
import sys

import httpx


def connect(credentials, port):
    """One client for all pushes: its connection stays open, as Apple asks."""
    trust = ssl.create_default_context(cafile=f"{credentials}/ca.pem")
    return httpx.Client(base_url=f"https://localhost:{port}", http1=False, http2=True, verify=trust)


def push(client, device, payload):
    """Status, and the reason of a refusal: 410 means to forget the device, 429 and 503 to try again later."""
    headers = {
        "authorization": os.environ["TOKEN"],  # "bearer …": what mock-apns token prints, or your own signer
        "apns-topic": "com.example.app",
        "apns-push-type": "alert",
    }
    answer = client.post(f"/3/device/{device}", headers=headers, json=payload)
    return answer.status_code, answer.json()["reason"] if answer.content else None


if __name__ == "__main__":
    try:
        with connect(*sys.argv[1:3]) as client:
            status, reason = push(client, sys.argv[3], {"aps": {"alert": "hello"}})
    except httpx.TransportError as error:
        sys.exit(f"no answer: {error}")
    if status != 200:
        sys.exit(f"{status} {reason}")
    print(status)
