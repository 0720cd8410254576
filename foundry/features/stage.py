"""The declaration of an optional stage of a search.

A stage is a table of foundry.toml: a pydantic model whose keys have defaults.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from foundry.features.feature import Feature, Table
from foundry.features.search_step import SearchStep

MAX_FACTOR = 100.0

Share = Annotated[float, Field(ge=0, le=1)]
Factor = Annotated[float, Field(ge=1, le=MAX_FACTOR)]
Milliseconds = Annotated[int, Field(ge=1, le=60_000)]
Days = Annotated[float, Field(gt=0, le=100_000)]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The parts of the configuration that a stage checks.

    Attributes:
        has_vectors: There is a semantic lane.
        filters: Names of filters whose values can be extracted from a query.
        stages: Names of the chosen stages.
    """

    has_vectors: bool
    filters: Collection[str]
    stages: Collection[str] = ()


class Stage(Feature, Table):
    """An optional stage of a search; the server has it if its table is in foundry.toml.

    Attributes:
        summary: Its line in the commented list of tables of a new foundry.toml.
        description: A description of its effect, for docs/stages.md.
        needs_vectors: It does nothing without a semantic lane.
        waits: It waits for a model, so searches run in threads.
        tells_of_corpus: It can show words of the corpus that are not in the results.
        is_in_new: A new foundry.toml has its table.
        is_tuned: `foundry eval --tune` tries other numbers for it.
        hits_compared: How many hits it compares, as a multiple of the number requested.
        search_step: The step that it adds to a search, if it adds a single one.
        switch: The name of the search argument, false by default, that turns it on for a search.
        built_in: Keys that the index is built with, which are not tuned; if there are any, the
            index depends on the table too.
    """

    choice: ClassVar[str] = "[search.{name}]"
    summary: ClassVar[str] = ""
    description: ClassVar[str] = ""
    needs_vectors: ClassVar[bool] = False
    waits: ClassVar[bool] = False
    tells_of_corpus: ClassVar[bool] = False
    is_in_new: ClassVar[bool] = False
    is_tuned: ClassVar[bool] = True
    hits_compared: ClassVar[int] = 1
    search_step: ClassVar[SearchStep | None] = None
    switch: ClassVar[str] = ""
    built_in: ClassVar[frozenset[str]] = frozenset()

    def steps(self) -> Iterator[SearchStep]:
        """Yield the stage's steps in a search."""
        if self.search_step is not None:
            yield self.search_step

    def values(self) -> Mapping[str, object]:
        """Return the keys of the table."""
        return self.model_dump()

    def find_problems(self, surroundings: Surroundings) -> Iterator[str]:
        """Yield conflicts between keys that are valid by themselves, with key paths."""
        if self.needs_vectors and not surroundings.has_vectors:
            yield (
                f"search.{self.name}: needs vectors, but embedding.provider is 'none';"
                " remove the table"
            )

    @classmethod
    def document(cls) -> Iterator[tuple[str, str, str]]:
        """Yield rows for docs/stages.md: the table, a description, keys with defaults."""
        yield f"`[search.{cls.name}]`", cls.description, ", ".join(cls.document_keys())

    @classmethod
    def document_keys(cls) -> Iterator[str]:
        """Yield each key as written in TOML, with its default."""
        for key, field in cls.model_fields.items():
            if field.is_required():
                yield f"`{key}` (required)"
            else:
                yield f"`{key} = {json.dumps(field.default)}`"
