"""Checks the language that a project assumes because its foundry.toml names none.

Websites and repositories are only read by the first build, after foundry.toml was written.
"""

from collections.abc import Callable
from pathlib import Path

from foundry.config.project import Config
from foundry.files import CONFIG_NAME
from foundry.indexing.versions import open_index
from foundry.inspection.languages import vote
from foundry.state.user_cache import is_adopted

CHUNKS_READ = 40


def check_assumed_language(config: Config, index: Path, warn: Callable[[str, str], object]) -> None:
    """Warn if most of an index's text seems to be in a language other than the assumed one.

    Only CHUNKS_READ chunks are read, evenly spread over the index.
    """
    if "language" in config.project.model_fields_set:
        return
    opened = open_index(index)
    count = min(CHUNKS_READ, opened.chunk_count)
    numbers = [number * opened.chunk_count // count for number in range(count)]
    language, votes = vote(opened.chunk(number).text for number in numbers)
    if language in (None, config.project.language) or 2 * votes <= count:
        return
    own = f'{config.root / CONFIG_NAME}: set language = "{language}" in [project]; then build again'
    adopted = f'foundry init writes a project; there, set language = "{language}" in [project]'
    warn(
        f"the documents seem to be {language} ({votes} of {count} passages),"
        f" but their words are stemmed as {config.project.language}",
        adopted if is_adopted(config.root) else own,
    )
