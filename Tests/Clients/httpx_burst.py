"""httpx with HTTP/2 (PyPI): COUNT requests at once. Usage: httpx_burst.py FOLDER PORT COUNT; the provider token is in TOKEN."""

import asyncio
import collections
import json
import os
import ssl
import sys

import httpx


async def main(folder, port, count):
    trust = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    headers = {"authorization": os.environ["TOKEN"], "apns-topic": "com.example.app", "apns-push-type": "alert"}
    async with httpx.AsyncClient(http2=True, verify=trust, timeout=60) as client:

        async def push(index):
            try:
                answer = await client.post(
                    f"https://localhost:{port}/3/device/{index:064x}", headers=headers, content='{"aps":{"alert":"hello"}}')
                return str(answer.status_code) if answer.http_version == "HTTP/2" else answer.http_version
            except httpx.HTTPError as error:
                return repr(error)

        answers = collections.Counter(await asyncio.gather(*map(push, range(count))))
    print(json.dumps({"version": f"httpx {httpx.__version__}", "answers": answers}))


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
