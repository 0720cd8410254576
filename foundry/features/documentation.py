"""Writes what declarations say of themselves into a new foundry.toml and into docs/."""

import re
from collections.abc import Callable, Mapping, Sequence

from foundry.features.snippet import Snippet
from foundry.features.stages import STAGES

_COMMENT_COLUMN = 34


def comment_tables() -> list[Snippet]:
    """Return a commented line for each table of [search] that chooses a stage."""
    return [
        Snippet(f"{f'# [search.{stage.name}]':{_COMMENT_COLUMN}}# {stage.summary}")
        for stage in STAGES.values()
    ]


def _stages() -> str:
    rows = [row for stage in STAGES.values() for row in stage.document()]
    return _table(("table in `[search]`", "what it does", "keys and defaults"), rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines).replace("| --- ", "|---")


BLOCKS: Mapping[str, Callable[[], str]] = {"stages": _stages}
"""What is written between `<!-- declared: NAME -->` and `<!-- end -->`, by name."""


def document(text: str) -> str:
    """Return a page of docs/ with its declared blocks as the declarations have them now."""

    def write(match: re.Match[str]) -> str:
        return f"{match[1]}\n{BLOCKS[match[2]]()}\n{match[3]}"

    return re.sub(r"(?s)(<!-- declared: (\w+) -->).*?(<!-- end -->)", write, text)
