"""The servers that are compared, each as a process whose CPU time can be read."""

import contextlib
import os
import socket
import subprocess
import sys
import time

NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    http2_max_concurrent_streams 1000;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        ssl_protocols TLSv1.3;
        ssl_certificate {credentials}/server.pem;
        ssl_certificate_key {credentials}/server.key;
        location / {{ return 200; }}
    }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    sys.exit(f"no server at port {port}")


@contextlib.contextmanager
def ending(process):
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def nginx(folder, credentials):
    """nginx with one worker and `return 200`; gives the worker's pid and the url."""
    port = free_port()
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(NGINX.format(folder=folder, port=port, credentials=credentials))
    process = subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf"], stderr=subprocess.DEVNULL)
    with ending(process):
        wait_for(port)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            yield int(file.read().split()[0]), f"https://127.0.0.1:{port}"


@contextlib.contextmanager
def nghttpd(folder, credentials, path):
    """nghttpd with one worker and an empty file at `path`; gives its pid and the url."""
    port = free_port()
    root = os.path.join(folder, "root")
    os.makedirs(os.path.dirname(root + path))
    with open(root + path, "w"):
        pass
    # Its window of 65,535 bytes would be full before 500 streams are open: aioapns loses streams then.
    process = subprocess.Popen(
        ["nghttpd", "--max-concurrent-streams=1000", "--connection-window-bits=30", "-d", root, str(port),
         f"{credentials}/server.key", f"{credentials}/server.pem"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with ending(process):
        wait_for(port)
        yield process.pid, f"https://127.0.0.1:{port}"
