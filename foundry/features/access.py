"""Declares which documents a token may see."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from pydantic import Field

from foundry.features.app_step import AppPlace, AppStep
from foundry.features.calls import Call, Imported
from foundry.features.feature import Slug, Table
from foundry.features.operation import Callers, Interface
from foundry.features.stage import Stage
from foundry.runtime.retrieval.filters import KNOWN_FIELDS, parse_time


class AccessRule(Table):
    """A rule: documents that pass all of its filters are visible.

    Attributes:
        name: The rule's name in the server's environment.
        filters: Filters, as in a search.
    """

    name: Slug
    filters: Mapping[str, str | list[str]]


class AccessKeys(Table):
    """Keys for access by document.

    Attributes:
        access: Whether tokens only see the documents of their rule.
        access_default: What tokens without a rule see: `nothing` or `all`.
        access_rules: The rules.
        access_statistics: Which documents term statistics are computed from: `all`, or only those
            `visible` to the caller.
    """

    access: bool = False
    access_default: Literal["nothing", "all"] = "nothing"
    access_rules: tuple[AccessRule, ...] = Field(default=(), strict=False, max_length=1_000)
    access_statistics: Literal["all", "visible"] = "all"

    @property
    def has_own_statistics(self) -> bool:
        """Whether a caller's scores only depend on visible documents."""
        return self.access_statistics == "visible"


class Access(Interface):
    """Documents that only some tokens may see."""

    name = "access"
    keys = AccessKeys
    needs = (Callers.name,)
    files = ("tests/test_rights.py",)
    settings = ("access_default", "access_rules", "access_statistics")
    environment = ("access",)
    section = "access"
    # This step is the innermost, because it sets the view for each request.
    app_steps = (
        AppStep(
            AppPlace.OFFER,
            Call(
                "",
                "app.add_middleware",
                (Imported("web.rights", "ByRights"), Call("web.rights", "serve_by_rights")),
            ),
        ),
    )


def find_problems(
    rules: Collection[AccessRule],
    *,
    columns: Collection[str],
    stages: Collection[Stage],
    keeps_duplicates: bool,
    is_embedded: bool,
) -> Iterator[str]:
    """Yield problems of the access rules, with key paths."""
    if not rules:
        yield "server.access_rules: is empty, so no token has a rule; add one"
    names = [rule.name for rule in rules]
    for number, rule in enumerate(rules):
        key = f"server.access_rules[{number}]"
        if rule.name in names[:number]:
            yield f"{key}.name: {rule.name!r} is the name of another rule; rename one of them"
        for name, values in rule.filters.items():
            if name not in {*KNOWN_FIELDS, *columns}:
                yield (
                    f"{key}.filters: {name!r} is not a filter of this index;"
                    f" known: {', '.join([*KNOWN_FIELDS, *sorted(columns)])}"
                )
            elif not values:
                yield f"{key}.filters.{name}: has no value, so everything would pass; add one"
            elif name.startswith("modified_") and not _is_time(values):
                yield f"{key}.filters.{name}: must be an ISO 8601 date, such as 2024-05-31"
    if not keeps_duplicates:
        yield (
            'build.duplicates: must be "keep" with server.access, since a document that represents'
            " its copies would reveal where they are"
        )
    if not is_embedded:
        yield "store.engine: server.access needs the embedded index; remove the table [store]"
    for stage in stages:
        if stage.tells_of_corpus:
            yield (
                f"search.{stage.name}: would show words of documents that a token may not see;"
                " remove the table, or server.access"
            )


def find_statistics_problems(*, keeps_boilerplate: bool, provider: str) -> Iterator[str]:
    """Yield settings that would let visible documents reveal others, with key paths."""
    if not keeps_boilerplate:
        yield (
            'build.boilerplate: must be "keep" with server.access_statistics = "visible", since the'
            " text left out of a document depends on other documents"
        )
    if provider not in ("static", "none"):
        yield (
            f"embedding.provider: {provider!r} embeds texts together, and trains on all of them;"
            ' with server.access_statistics = "visible" it must be "static" or "none"'
        )


def _is_time(values: str | list[str]) -> bool:
    value, *others = [values] if isinstance(values, str) else values
    try:
        parse_time(value)
    except (ValueError, OverflowError):
        return False
    return not others
