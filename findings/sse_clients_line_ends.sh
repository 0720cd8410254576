#!/usr/bin/env bash
# aiosseclient 0.1.8, sseclient 0.0.27, requests-sse 0.5.3: clients of server-sent events.
# Expected: a line of a stream ends with CR, LF or both, the text is UTF-8, and of the spaces after
#   "data:" one is removed (WHATWG HTML, 9.2.5 and 9.2.6).
# Seen: aiosseclient also ends a line at U+2028 and U+0085 and drops the rest, so a JSON value arrives cut.
#   sseclient reads Latin-1 if the response names no charset, and ends lines at the byte 85 then, which
#   many letters contain ("Å"). requests-sse removes all spaces, so streamed code loses its indentation.
#   httpx-sse 0.4.3 does as the specification says.
# Where it matters: escape these characters in JSON, and send "charset=utf-8".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet aiosseclient==0.1.8 sseclient==0.0.27 requests-sse==0.5.3 \
  httpx-sse==0.4.3 httpx==0.28.1
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import aiosseclient
import httpx
import requests_sse
import sseclient
from httpx_sse import connect_sse

VALUES = ['{"t": "a\u2028b"}', '{"t": "a\x85b"}', '{"t": "\u00c5re"}', "    indented"]
STREAM = "".join(f"data: {value}\n\n" for value in VALUES).encode()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(STREAM)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}/"


def first(events):
    return [event.data for event, _ in zip(events, VALUES)]


async def of_aiosseclient():
    found = []
    async for event in aiosseclient.aiosseclient(URL):
        found.append(event.data)
        if len(found) == len(VALUES):
            return found


with httpx.Client() as client, connect_sse(client, "GET", URL) as source:
    right = first(source.iter_sse())
with requests_sse.EventSource(URL) as source:
    stripped = first(source)
cut, decoded = asyncio.run(of_aiosseclient()), first(sseclient.SSEClient(URL))
for name, found in {
    "httpx-sse": right,
    "aiosseclient": cut,
    "sseclient": decoded,
    "requests-sse": stripped,
}.items():
    print(f"{name}: {found!a}")
assert right == VALUES
assert cut == ['{"t": "a', '{"t": "a', *VALUES[2:]]
assert decoded[2] == '{"t": "\u00c3'
assert stripped == [*VALUES[:3], "indented"]
PYTHON
