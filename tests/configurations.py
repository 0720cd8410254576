"""Sections of foundry.toml as tests want them, also with sizes that the file would refuse."""

from typing import Any

from foundry.config.file import ChunkingSection, Strategy


def chunking(
    strategy: Strategy, max_chars: int = 1200, overlap: int = 0, **others: Any
) -> ChunkingSection:
    """The section [chunking], not validated."""
    return ChunkingSection.model_construct(
        strategy=strategy, max_chars=max_chars, overlap=overlap, **others
    )
