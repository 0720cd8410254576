"""Sections of foundry.toml for tests, including sizes that validation would reject."""

from typing import Any

from foundry.config.file import ChunkingSection, Strategy


def chunking(
    strategy: Strategy, max_chars: int = 1200, overlap: int = 0, **others: Any
) -> ChunkingSection:
    """The section [chunking], not validated."""
    return ChunkingSection.model_construct(
        strategy=strategy, max_chars=max_chars, overlap=overlap, **others
    )
