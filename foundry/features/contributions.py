"""Collects the contributions of the chosen features to an export."""

from collections.abc import Collection, Iterable, Mapping

from foundry.features.feature import Feature
from foundry.features.interfaces import INTERFACES
from foundry.features.operation import HTTP
from foundry.features.providers import PROVIDERS
from foundry.features.snippet import Snippet
from foundry.features.stage import Stage
from foundry.features.stages import STAGES
from foundry.features.stores import STORES
from foundry.features.targets import TARGETS

_COMMENT_COLUMN = 34


def dependencies_of(features: Iterable[Feature | type[Feature]]) -> list[str]:
    """Return the distinct requirements of an export, sorted."""
    return sorted({requirement for each in features for requirement in each.dependencies})


def sections_of(features: Iterable[Feature]) -> list[tuple[str, Mapping[str, object]]]:
    """Return the templates of README sections, each with its feature's values."""
    return [(f"readme/{each.section}.md.jinja", each.values()) for each in features if each.section]


def contents_of(features: Iterable[Feature], **server: object) -> list[tuple[Snippet, Snippet]]:
    """Return the distinct rows of the README's table of files."""
    rows: dict[tuple[str, str], Feature] = {}
    for each in features:
        for row in each.contents:
            rows.setdefault(row, each)
    return [(each.fill(path, **server), Snippet(what)) for (path, what), each in rows.items()]


def files_left_out(features: Iterable[Feature]) -> set[str]:
    """Return the files of features that were not chosen; see `Feature`."""
    kept = {file for each in features for file in each.files}
    return {file for each in every_feature() for file in each.files} - kept


def every_feature() -> list[Feature | type[Feature]]:
    """Return everything that can be chosen; stages, which have keys, as classes."""
    return [
        HTTP,
        *INTERFACES.values(),
        *STAGES.values(),
        *PROVIDERS.values(),
        *STORES.values(),
        *TARGETS.values(),
    ]


def list_tables(without: Collection[str] = ()) -> list[Snippet]:
    """Return the tables of stages in a new foundry.toml, one per line.

    Stages that are off by default are commented out; `without` lists stages to leave out.
    """
    return [
        Snippet(f"{_written(stage):{_COMMENT_COLUMN}}# {stage.summary}")
        for stage in STAGES.values()
        if stage.name not in without
    ]


def _written(stage: type[Stage]) -> str:
    return f"[search.{stage.name}]" if stage.is_in_new else f"# [search.{stage.name}]"
