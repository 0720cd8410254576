#!/usr/bin/env bash
# httpx 0.28.1: a client for a server without TLS.
# Expected: a client whose base URL is http reads no certificates, or reads them when it first needs them.
# Seen: the constructor reads all certificates, which takes most of its time, and a wrong SSL_CERT_FILE is
#   an error before any request. An empty `ssl.SSLContext` as `verify` avoids both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet httpx==0.28.1
SSL_CERT_FILE="$folder/missing.pem" "$folder/venv/bin/python" - <<'PYTHON'
import ssl
from importlib.metadata import version

import httpx

try:
    httpx.Client(base_url="http://127.0.0.1:1").close()
    seen = "no error"
except FileNotFoundError as error:
    seen = repr(error)
httpx.Client(base_url="http://127.0.0.1:1", verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)).close()
print("httpx", version("httpx"), "with a missing SSL_CERT_FILE and an http URL:", seen)
assert seen.startswith("FileNotFoundError"), seen
PYTHON
