"""The modules that a search passes in a server: `python benchmarks/path.py EXPORT`.

Calls the application of an export with POST /search, a second time so that nothing is loaded any
more, and prints which modules of the package it ran, in the order in which they were entered.
"""

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import MutableMapping
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

BODY = json.dumps({"query": "how do I replace it"}).encode()
HEADERS = (
    (b"host", b"localhost"),
    (b"content-type", b"application/json"),
    (b"content-length", b"%d" % len(BODY)),
)


async def ask(app: Any) -> int:
    """Search through an ASGI application, and return the status of its answer."""
    status = 0

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/search",
        "raw_path": b"/search",
        "query_string": b"",
        "root_path": "",
        "headers": list(HEADERS),
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    await app(scope, receive, send)
    return status


def trace(export: Path) -> list[str]:
    """Name the modules that a search passes, as `room.module`, in order."""
    package = next(export.glob("*/app.py")).parent
    sys.path.insert(0, str(export))
    app = import_module(f"{package.name}.app").create_app()
    passed: dict[str, None] = {}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(package):
            passed[".".join(file.relative_to(package).with_suffix("").parts)] = None

    async def ask_twice() -> None:
        assert await ask(app) == 200
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            assert await ask(app) == 200
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    asyncio.run(ask_twice())
    return list(passed)


def main() -> None:
    """Trace the path and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("export", type=Path)
    passed = trace(parser.parse_args().export.resolve())
    sys.stdout.write("\n".join([*passed, f"{len(passed)} modules"]) + "\n")


if __name__ == "__main__":
    main()
