"""Restricts each caller to the documents that the rule of its token allows.

A rule is a set of filters in settings.json. ACCESS_TOKENS assigns rules to tokens: `rule=sha256`,
separated by commas, with the hexadecimal SHA-256 of one of API_TOKENS; the file ACCESS_FILE has one
assignment per line. Callers with another token, or none, get the rule `access_default`.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import ConfigurationError
from ..index.reader import Index, OpenedIndex, served
from ..index.tree import read_file
from ..retrieval.filters import Filters
from ..retrieval.own_statistics import TermCounts, view_by_own_statistics
from ..retrieval.view import view_of
from ..settings import SETTINGS_FILE, reading
from .access import token_digest

NOTHING = ""
"""The rule that allows nothing."""

MAX_FILE_BYTES = 16_000_000

_ENTRY = re.compile(r"\s*(?P<rule>[^=\s]+)\s*=\s*(?P<digest>[0-9A-Fa-f]{64})\s*")
_HINT = "write rule=sha256, with a rule from settings.json and the SHA-256 of one of API_TOKENS"

# None allows everything, as for commands that the server's owner runs.
_rule: ContextVar[str | None] = ContextVar("rule", default=None)


@dataclass(slots=True)
class Rights:
    """The rules by name, the rule of each token by its SHA-256, and the default; a `Viewer`.

    `default` is None if other callers may see everything. With `own_statistics`, scores depend only
    on documents that the caller may see.
    """

    rules: Mapping[str, Filters]
    tokens: Mapping[bytes, str]
    default: str | None
    own_statistics: bool = False
    _views: dict[str, tuple[OpenedIndex, Index]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path = SETTINGS_FILE) -> "Rights":
        """Read settings.json and the environment. Raises ConfigurationError."""
        with reading(file) as values:
            rules = {rule["name"]: rule["filters"] for rule in values["access_rules"]}
            default = None if values["access_default"] == "all" else NOTHING
            own_statistics = values["access_statistics"] == "visible"
        tokens = {}
        for place, entry in _entries():
            parts = _ENTRY.fullmatch(entry)
            if parts is None:
                raise ConfigurationError(f"{place}: an entry is not rule=sha256", hint=_HINT)
            if parts["rule"] not in rules:
                raise ConfigurationError(f"{place}: unknown rule {parts['rule']!r}", hint=_HINT)
            tokens[bytes.fromhex(parts["digest"])] = parts["rule"]
        return cls(rules, tokens, default, own_statistics)

    def prepare(self, index: OpenedIndex) -> None:
        """Open the inputs of views. Raises IndexUnusableError if the index lacks them."""
        if self.own_statistics:
            index.part(TermCounts.open)

    def view(self, index: OpenedIndex) -> Index:
        """Return the current caller's view of the index."""
        rule = _rule.get()
        return index if rule is None else self._view(index, rule)

    def public(self, index: OpenedIndex) -> Index:
        """Return a view without documents, since no document is visible to every caller."""
        return self._view(index, NOTHING)

    def _view(self, index: OpenedIndex, rule: str) -> Index:
        whole, view = self._views.get(rule, (None, None))
        if whole is not index or view is None:
            make_view = view_by_own_statistics if self.own_statistics else view_of
            view = make_view(index, self.rules.get(rule))
            self._views[rule] = index, view
        return view

    def rule_of(self, scope: Scope) -> str | None:
        """Return the rule of a request; None if it allows everything."""
        return self.tokens.get(token_digest(scope), self.default)


def serve_by_rights() -> Rights:
    """Let each request see only its caller's view of the index. Raises ConfigurationError."""
    served.viewer = rights = Rights.read()
    return rights


class ByRights:
    """An ASGI application that handles each request by the rule of its token."""

    def __init__(self, app: ASGIApp, rights: Rights) -> None:
        self._app = app
        self._rights = rights

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request. Raises HTTPException 403 for metrics if a rule limits the caller."""
        rule = self._rights.rule_of(scope) if scope["type"] == "http" else None
        if rule is not None and scope["path"] == "/metrics":
            raise HTTPException(403, "This token has no access to the metrics.")
        reset = _rule.set(rule)
        try:
            await self._app(scope, receive, send)
        finally:
            _rule.reset(reset)


def _entries() -> Iterator[tuple[str, str]]:
    """Yield every assignment, and where it was found. Raises ConfigurationError."""
    for entry in os.environ.get("ACCESS_TOKENS", "").split(","):
        if entry.strip():
            yield "ACCESS_TOKENS", entry
    if not (written := os.environ.get("ACCESS_FILE", "").strip()):
        return
    try:
        lines = read_file(Path(written), MAX_FILE_BYTES).decode().splitlines()
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise ConfigurationError(f"ACCESS_FILE: {written}: {said}", hint=_HINT) from None
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"ACCESS_FILE: {written}, line {number}", line
