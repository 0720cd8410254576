"""Writes what declarations say of themselves into a new foundry.toml."""

from foundry.features.snippet import Snippet
from foundry.features.stages import STAGES

_COMMENT_COLUMN = 34


def comment_tables() -> list[Snippet]:
    """Return a commented line for each table of [search] that chooses a stage."""
    return [
        Snippet(f"{f'# [search.{stage.name}]':{_COMMENT_COLUMN}}# {stage.summary}")
        for stage in STAGES.values()
    ]
