"""Records the requests to a Qdrant server, and validates them and the responses."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from qdrant_client.http.api_client import ApiClient

TESTS = Path(__file__).resolve().parent.parent / "tests"


@dataclass
class Wire:
    """The exchanges of all clients in this process.

    Attributes:
        requests: The number of requests.
        rows: The number of rows of chunks in them.
        faults: Distinct violations of the schema.
        schema: The module that validates; None if its library is not installed.
    """

    requests: int = 0
    rows: int = 0
    faults: dict[str, None] = field(default_factory=dict)
    schema: Any = None

    def note(self, request: Any, response: Any) -> None:
        """Count a request, and validate it and its response."""
        self.requests += 1
        asked: Any = json.loads(request.content) if request.content else None
        target = request.url.raw_path.decode()
        if request.method == "PUT" and target.partition("?")[0].endswith("/points"):
            self.rows += sum(isinstance(point["id"], str) for point in asked["points"])
        if self.schema is not None:
            try:
                said = response.json()
            except ValueError:
                said = response.text
            exchange = self.schema.Exchange(
                request.method, target, asked, response.status_code, said
            )
            # Another version of Qdrant may know more fields.
            calls = self.schema.Calls.of(is_strict=False)
            self.faults.update(dict.fromkeys(calls.faults(exchange)))


@contextmanager
def tapped() -> Iterator[Wire]:
    """Record all exchanges of Qdrant clients while the context lasts."""
    wire, send = Wire(), ApiClient.send_inner
    try:
        sys.path.append(str(TESTS))
        wire.schema = import_module("qdrant_schema")
    except ImportError:
        pass
    finally:
        sys.path.remove(str(TESTS))

    def send_noted(client: ApiClient, request: Any) -> Any:
        response = send(client, request)
        wire.note(request, response)
        return response

    with patch.object(ApiClient, "send_inner", send_noted):
        yield wire
