"""Declares what every server has, and what its operation may do without."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field, create_model

from foundry.features.feature import Feature, Table
from foundry.features.snippet import Place, Step


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
        if self.step is not None:
            yield self.step


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


class CallersKeys(Table):
    """Keys of the callers.

    Attributes:
        callers: Whether callers are told apart, by tokens (`API_TOKENS`) and by how often they ask.
        requests_per_minute: Requests of one caller, not counting chats; 0 for no limit.
    """

    callers: bool = True
    requests_per_minute: int = Field(default=0, ge=0, le=1_000_000_000)


class Callers(Interface):
    """Tokens that callers need, and how often each may ask: else a proxy's business."""

    name = "callers"
    keys = CallersKeys
    files = ("tests/test_callers.py",)
    limits: ClassVar = {"requests_per_minute": "requests_per_minute"}
    environment = ("tokens",)


class Documents(Interface):
    """Reading documents and passages by id."""

    name = "documents"
    files = ("tests/test_contents.py",)
    keys = switch(
        "documents",
        "Whether `/documents`, `/chunks` and `/sources` show what the index holds.",
        default=True,
    )
    step = Step(
        Place.ANSWER,
        {"web.documents": ("document_routes",)},
        "app.include_router(document_routes)",
    )


class Filters(Interface):
    """Choosing among passages before they are ranked."""

    name = "filters"
    keys = switch(
        "filters",
        "Whether a search may ask for a source, tags, dates or columns of metadata.",
        default=True,
    )


class Workers(Interface):
    """Several serving processes on one address."""

    name = "workers"
    keys = switch("workers", "Whether `serve --workers` runs several processes.", default=True)


class Hooks(Interface):
    """The owner's own code: `custom.py`."""

    name = "hooks"
    keys = switch(
        "hooks",
        "Whether `custom.py` may change searches, refuse requests and add endpoints.",
        default=True,
    )
    needs = (Filters.name,)
    files = ("package/custom.py",)
    contents = (
        ("{package}/custom.py", "your own code: hooks of searches, access checks, endpoints"),
    )


class Snippets(Interface):
    """The part of each hit that is worth showing."""

    name = "snippets"
    keys = switch(
        "snippets",
        "Whether results over HTTP have a snippet and the places of the query's words.",
        default=True,
    )


class CommandLine(Interface):
    """The search in a terminal."""

    name = "command_line"
    keys = switch(
        "command_line", "Whether there is a command that searches, `search`.", default=True
    )
    needs = (Filters.name, Snippets.name)


HTTP = Http()
