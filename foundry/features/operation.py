"""Declares the parts of every server, and the optional parts of its operation."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field, create_model

from foundry.features.app_step import AppPlace, AppStep, include
from foundry.features.calls import Call, Imported
from foundry.features.feature import Feature, Table


class Http(Feature):
    """HTTP search, which every server has."""

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

    def open(self, chosen: Collection[str]) -> Iterator[AppStep]:
        """Yield the steps that check environment variables when the server starts.

        Without them, the first search would fail. `chosen` is as in `Interface.open`.
        """
        if Callers.name not in chosen:
            yield AppStep(AppPlace.START, Call("web.no_tokens", "refuse_tokens"))
        if "none" not in chosen:
            yield AppStep(AppPlace.START, Call("retrieval.hybrid", "weights"))


class Interface(Feature):
    """A part of the server that can be turned off in `[server]`; its name is the key.

    Attributes:
        keys: Its keys in [server]; the first one turns it on or off.
        meaning: The description of the key, for an interface with a single key.
        is_on: Whether it is on by default.
        needs: The parts that it requires.
        queues: The queue for POST requests by path: `chat` or `mcp` instead of `search`.
    """

    choice = "[server] {name} = true"
    keys: ClassVar[type[Table]]
    meaning: ClassVar[str] = ""
    is_on: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()
    queues: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls) -> None:
        """Create the keys of an interface that has only one."""
        if cls.meaning:
            words = f"Key of an interface.\n\nAttributes:\n    {cls.name}: {cls.meaning}\n"
            fields: Any = {cls.name: (bool, cls.is_on)}
            cls.keys = create_model(f"{cls.name}_keys", __base__=Table, __doc__=words, **fields)

    def open(self, chosen: Collection[str], words: str | None) -> Iterator[AppStep]:
        """Yield the steps that add the interface to the application.

        `chosen` are the names of all interfaces and stages of the server, and the kind of its query
        encoder; `words` is the documents' language if the chat has words of it, else None.
        """
        del chosen, words
        yield from self.app_steps


class Monitoring(Interface):
    """A log line and a trace of each request, and metrics."""

    name = "monitoring"
    meaning = "Whether requests are logged, counted for Prometheus at `/metrics`, and traced."
    dependencies = ("opentelemetry-api>=1.30,<2", "prometheus-client>=0.22,<0.30")
    environment = ("monitoring",)
    app_steps = (
        AppStep(AppPlace.SETTING, Imported("web.observing", "TELEMETRY"), "telemetry"),
        AppStep(AppPlace.WRAP, Imported("web.observing", "observe_search")),
        include(Imported("web.observing", "metrics_routes"), AppPlace.OFFER),
        AppStep(AppPlace.CHECK, Imported("web.observing", "observe_request"), "observe"),
    )


class QuestionLog(Interface):
    """Logs questions without a strong match to a file for the owner."""

    name = "question_log"
    meaning = (
        "Whether questions without a strong match, and readers' thumbs, are logged to the file"
        " `QUESTION_LOG`."
    )
    is_on = False
    files = ("package/page/thumbs.css", "package/page/thumbs.js")
    environment = ("question_log",)
    section = "question_log"

    def open(self, chosen: Collection[str], words: str | None) -> Iterator[AppStep]:
        """Yield the steps that open the log, keep questions in it, and add the thumbs' route."""
        del words
        counting = (Imported("web.observing", "count_question"),)
        counted = counting if Monitoring.name in chosen else ()
        yield AppStep(
            AppPlace.START, Call("web.questions", "QuestionLog.open", counted), "questions"
        )
        yield AppStep(AppPlace.WRAP, "questions.keep")
        yield include(Call("web.thumbs", "thumb_routes", ("questions",)))


class Reloading(Interface):
    """Serves a new index as soon as it is published."""

    name = "reloading"
    meaning = "Whether the server switches to a newly published index while it runs."


class CallersKeys(Table):
    """Keys of the callers.

    Attributes:
        callers: Whether callers are distinguished by tokens (`API_TOKENS`) and limited in rate.
        requests_per_minute: Maximum requests per caller, not counting chats; 0 for no limit.
    """

    callers: bool = True
    requests_per_minute: int = Field(default=0, ge=0, le=1_000_000_000)


class Callers(Interface):
    """Tokens and rate limits for callers; without these, a proxy must check callers."""

    name = "callers"
    keys = CallersKeys
    files = ("tests/test_callers.py",)
    limits: ClassVar = {"requests_per_minute": "requests_per_minute"}
    environment = ("tokens",)

    def open(self, chosen: Collection[str], words: str | None) -> Iterator[AppStep]:
        """Yield the checks of tokens and rate limits."""
        del words
        access = "web.access"
        known = Call("", "bool", (Call(access, "read_tokens"),))
        yield AppStep(AppPlace.SETTING, known, "asks_for_tokens")
        is_open = (Imported("web.page", "is_page"),) if "page" in chosen else ()
        yield AppStep(AppPlace.CHECK, Call(access, "token_check", is_open), "check_token")
        rates = Call(access, "rate_checks", ("chosen.limits",))
        yield AppStep(AppPlace.CHECK, rates, "check_rates")


class Documents(Interface):
    """Reading documents and passages by id."""

    name = "documents"
    files = ("tests/test_contents.py",)
    meaning = "Whether `/documents`, `/chunks` and `/sources` show the contents of the index."
    app_steps = (include(Imported("web.documents", "document_routes")),)


class Hooks(Interface):
    """The owner's own code: `custom.py`."""

    name = "hooks"
    meaning = "Whether `custom.py` may change searches, reject requests and add endpoints."
    files = ("package/custom.py",)
    contents = (("{package}/custom.py", "your own code: search hooks, access checks, endpoints"),)
    app_steps = (
        AppStep(AppPlace.OFFER, Call("custom", "HOOKS.open_routes", ("app",))),
        AppStep(AppPlace.CHECK, Imported("custom", "HOOKS.check"), "authorise"),
    )


class CommandLine(Interface):
    """Search in a terminal."""

    name = "command_line"
    meaning = "Whether there is a `search` command."


HTTP = Http()
