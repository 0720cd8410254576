"""The basis of an export: index, design of the server, and questions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from foundry.config.extras import of_figures, require
from foundry.config.project import Config
from foundry.errors import IndexUnusableError, TrustError
from foundry.evaluation.questions import askable_lines, read_questions
from foundry.evaluation.run import own_questions
from foundry.files import CONFIG_NAME
from foundry.indexing.versions import (
    built_index,
    check_index,
    check_numbers,
    open_index,
    refuse_stale,
)
from foundry.rendering.design import Design
from foundry.rendering.query_encoder import choose_query_encoder
from foundry.runtime.index.reader import OpenedIndex
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.stages.expansion import open_words


@dataclass(frozen=True, slots=True)
class Basis:
    """The inputs of an export.

    Attributes:
        design: The design of its server.
        index: The folder of the verified version of the index that is exported.
        questions: The project's questions, as lines of JSON, if it has any.
    """

    design: Design
    index: Path
    questions: bytes | None

    @classmethod
    def of(cls, config: Config, *, trust: bool, stale: bool) -> Self:
        """Return the basis for an export of a project's current index.

        The index is opened in the same way as the server opens it. Raises IndexUnusableError
        if that fails or, unless `stale`, if the index does not match foundry.toml, and TrustError
        if the project has its own templates, unless `trust`.
        """
        index = built_index(config)
        check_index(index, config.root)
        if not stale:
            refuse_stale(config, index.manifest)
        design = Design.of(config, choose_query_encoder(config, index.manifest))
        # This fails for an index built with other options or versions.
        opened = open_index(index.folder, vectors=design.query_encoder.kind == "pieces")
        _check_search_options(design, opened)
        questions = _read_own_questions(design)
        if config.templates is not None and not trust:
            raise TrustError(
                f"{config.root / CONFIG_NAME}: export.templates: the templates in"
                f" {config.templates} are code that runs on this machine",
                hint="read them, then pass --trust",
            )
        check_numbers(index.folder)
        return cls(design, index.folder, questions)


def _check_search_options(design: Design, index: OpenedIndex) -> None:
    config = design.config
    if missing := set(config.index.filterable) - set(index.part(FilterColumns.open).columns):
        raise IndexUnusableError(
            f"{index.layout.root}: cannot be filtered by {', '.join(sorted(missing))}",
            hint=f"build it again: {config.build_command}",
        )
    if "expansion" in design.stages:
        open_words(index)


def _read_own_questions(design: Design) -> bytes | None:
    """Return the project's questions, if there are any. Raises FoundryError."""
    file = own_questions(design.config)
    if file is None:
        return None
    # The file is parsed here, so that errors name a line of it and not of the copy.
    read_questions(file, inside=design.config.root)
    require(of_figures(design.config, design.query_encoder.kind))
    return askable_lines(file, inside=design.config.root)
