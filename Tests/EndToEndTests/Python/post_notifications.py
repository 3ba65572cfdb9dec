"""Asks a backend to notify a user, over several connections at once, until the backend is gone or so many were answered.

post_notifications.py PORT CONNECTIONS COUNT: prints the id of each notification that was answered, one a line, at once.
"""
import http.client
import json
import sys
import threading

port, connections, count = (int(text) for text in sys.argv[1:])
lock = threading.Lock()
left = count


def post():
    global left
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    headers = {"Authorization": "Basic Ym9iOmJvYg==", "Content-Type": "application/json"}
    while True:
        with lock:
            if left == 0:
                return
            left -= 1
        try:
            connection.request("POST", "/api/notifications", '{"message":"hi"}', headers)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            return
        assert answer.status == 201, (answer.status, body)
        with lock:
            print(json.loads(body)["id"], flush=True)


threads = [threading.Thread(target=post) for _ in range(connections)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
