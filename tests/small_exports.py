"""The files of the smallest export that can be verified."""

ANSWERS = b"""import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

if __name__ == "__main__" and sys.argv[1:] == ["verify", "--json"]:
    print(json.dumps({"documents": 3, "findings": []}))
elif __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 0), Handler)
    sys.stderr.write(f"Serving on http://127.0.0.1:{server.server_port}\\n")
    sys.stderr.flush()
    server.serve_forever()
"""
FILES = {
    "README.md": b"read me\n",
    "acme/__init__.py": b"",
    "acme/__main__.py": ANSWERS,
    "acme/settings.json": b'{"embedding": {"api_key_env": "ACME_KEY"}}\n',
}
