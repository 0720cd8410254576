"""Declares what every server has, and what its operation may do without."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from pydantic import create_model

from foundry.features.feature import Feature, Table
from foundry.features.snippet import Step


class Http(Feature):
    """The search over HTTP, which every server has."""

    name = "http"
    dependencies = (
        "fastapi>=0.165,<0.166",
        "httptools>=0.9,<0.10",
        "numpy>=2,<3",
        "pydantic>=2.14,<3",
        "snowballstemmer>=3,<4",
        "starlette>=1.10,<2",
        "uvicorn>=0.54,<0.55",
    )
    settings = ("port", "allowed_hosts", "max_body_bytes")
    limits: ClassVar = {
        "max_connections": "connections",
        "concurrent_searches": "searches",
        "concurrent_streams": "streams",
        "requests_per_minute": "requests_per_minute",
    }


def switch(name: str, meaning: str, *, default: bool) -> type[Table]:
    """Return the keys of an interface that has no other key than the one that leaves it out."""
    words = f"Key of an interface.\n\nAttributes:\n    {name}: {meaning}\n"
    fields: Any = {name: (bool, default)}
    return create_model(f"{name}_keys", __base__=Table, __doc__=words, **fields)


class Interface(Feature):
    """A part of the server that `[server]` may leave out: its name is the key.

    Attributes:
        keys: Its keys in [server]; the first one leaves it out, and the others do nothing then.
        needs: The parts that it belongs to.
        queues: What a POST to a path waits for, by path: `chat` or `mcp` in place of `search`.
    """

    keys: ClassVar[type[Table]]
    needs: ClassVar[tuple[str, ...]] = ()
    queues: ClassVar[Mapping[str, str]] = {}

    def open(self, beside: Collection[str], words: str | None) -> Iterator[Step]:
        """Yield what opens it in the application.

        `beside` are the names of all that was chosen, `words` is the language of the documents if
        the chat knows words of it besides English.
        """
        del beside, words
        yield from ()


class Monitoring(Interface):
    """A log line and a trace of each request, and metrics."""

    name = "monitoring"
    keys = switch(
        "monitoring",
        "Whether requests are logged, counted for Prometheus at `/metrics`, and traced.",
        default=True,
    )
    dependencies = ("opentelemetry-api>=1.30,<2", "prometheus-client>=0.22,<0.30")
    environment = ("monitoring",)


class Reloading(Interface):
    """The index that is published while the server runs, in place of the one before."""

    name = "reloading"
    keys = switch(
        "reloading",
        "Whether it goes over to each index that is published while it runs.",
        default=True,
    )


HTTP = Http()
