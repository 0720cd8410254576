"""[search]: keys, weights, and options that affect the index."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, create_model

from foundry.config.git_sources import VERSION
from foundry.config.patterns import check_pattern
from foundry.config.sources import Source
from foundry.config.synonyms import Group
from foundry.features.feature import Strings, Table
from foundry.features.stage import Stage, Surroundings
from foundry.features.stages import STAGES
from foundry.features.stages.results import MAX_PINNED_DOCUMENTS, PinnedAnswer
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.filters import KNOWN_FIELDS
from foundry.runtime.retrieval.stages.pinned import pinned_key

EXTRACTABLE = ("source", "tags", "media_type", "modified_after", "modified_before")
"""Built-in filters that a language model can set: dates, and fields with few values."""

DEFAULT_WEIGHTS = {"linear": (0.7, 0.3), "rrf": (0.5, 0.5)}
"""Semantic and keyword weight by fusion; equal for RRF, since ranks carry less information."""

MAX_WEIGHT = 1_000_000.0

FieldWeight = Annotated[int, Field(ge=0, le=100)]


class FieldsSection(Table):
    """[search.fields]: the weight of each field in BM25, relative to the text of the chunk.

    Attributes:
        title: The title of the document.
        headings: The headings above the chunk.
        tags: The tags of the document.
        metadata: Metadata keys, each with its own weight.
    """

    title: FieldWeight = 2
    headings: FieldWeight = 3
    tags: FieldWeight = 1
    metadata: dict[str, FieldWeight] = Field(default={})

    def flatten(self) -> dict[str, int]:
        """Return all weights by field; the fields of metadata are named `metadata.KEY`."""
        metadata = {f"metadata.{key}": weight for key, weight in sorted(self.metadata.items())}
        return {**self.model_dump(exclude={"metadata"}), **metadata}


class SearchOptions(Table):
    """[search] except for its stages.

    Attributes:
        fusion: How the scores or ranks of both lanes are combined.
        semantic_weight: The weight of meaning; by default 1 minus `keyword_weight`. If neither is
            set, it is 0.7 (0.5 for `rrf`).
        keyword_weight: The weight of keywords; by default 1 minus `semantic_weight`. If neither is
            set, it is 0.3 (0.5 for `rrf`).
        k: The constant added to each rank; only for `rrf`.
        identifier_fallback: Whether a query such as `D40` is answered by keywords alone, if it is
            found.
        unknown_identifiers: Whether a response lists the identifiers in its query that no document
            contains.
        identifier_patterns: Regular expressions for your own identifiers.
        filterable: Metadata keys that searches can be filtered by.
        fields: How much titles, headings, tags and metadata count.
    """

    fusion: Literal["linear", "rrf"] = "linear"
    semantic_weight: float | None = Field(default=None, ge=0, le=MAX_WEIGHT)
    keyword_weight: float | None = Field(default=None, ge=0, le=MAX_WEIGHT)
    k: int = Field(default=60, ge=1, le=10_000)
    identifier_fallback: bool = True
    unknown_identifiers: bool = True
    identifier_patterns: Strings = ()
    filterable: Strings = ()
    fields: FieldsSection = FieldsSection()

    @property
    def stages(self) -> dict[str, Stage]:
        """The stages that are configured, by name."""
        tables = {name: getattr(self, name) for name in STAGES}
        return {name: table for name, table in tables.items() if table is not None}


if TYPE_CHECKING:
    SearchSection = SearchOptions
else:
    SearchSection = create_model(
        "SearchSection",
        __base__=SearchOptions,
        __doc__="[search]; the server does not contain stages that are left out.",
        **{name: (stage | None, None) for name, stage in STAGES.items()},
    )


def rest(weight: float) -> float:
    """Return the other lane's weight, so that both add up to 1. Raises ValueError above 1."""
    if weight > 1:
        raise ValueError(
            "must be at most 1 if the other weight is not set: the other lane gets the rest"
        )
    return round(1 - weight, 6)


DEFAULT_FIELDS = FieldsSection().flatten()


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options, most of them in [search], that the index is built with.

    `fields` has the weights in BM25 of title, headings, tags and metadata columns, in addition to
    the text itself; 0 leaves a field out. `filterable` lists the metadata columns that searches can
    be filtered by. `expansion_words` is the number of frequent words to embed, `correction_words`
    the number of words for correcting queries, and `suggested_words` the number for completing
    words being typed. `synonyms` are the groups in the project's file, None without the stage;
    `acronyms` says whether acronyms in the documents are added. `pinned` lists which documents
    answer which queries. With `keeps_counts`, the index also has the counts that BM25 is computed
    from. `mean_in_steps` rounds the mean chunk length, so that most changes leave it unchanged.
    With `own_statistics`, the index has the counts too, and scores can be computed as if only some
    of the documents existed.
    """

    fields: Mapping[str, int] = field(default_factory=lambda: dict(DEFAULT_FIELDS))
    filterable: tuple[str, ...] = ()
    expansion_words: int = 0
    correction_words: int = 0
    synonyms: tuple[Group, ...] | None = None
    acronyms: bool = False
    suggested_words: int = 0
    pinned: tuple[PinnedAnswer, ...] = ()
    keeps_counts: bool = False
    mean_in_steps: bool = False
    own_statistics: bool = False


def find_problems(
    search: SearchSection, sources: Sequence[Source], *, has_vectors: bool
) -> list[str]:
    """Return invalid patterns in [search], and conflicts of its keys with each other or sources."""
    problems = _find_fusion_problems(search, has_vectors=has_vectors)
    for number, pattern in enumerate(search.identifier_patterns):
        try:
            check_pattern(pattern)
        except ValueError as error:
            problems.append(f"search.identifier_patterns[{number}]: {error}")
    is_read = search.unknown_identifiers or (has_vectors and search.identifier_fallback)
    if search.identifier_patterns and not (is_read or search.stages):
        off = "unknown_identifiers = false"
        problems.append(f"search.identifier_patterns: does nothing with {off}; remove it")
    filters = {*EXTRACTABLE, *search.filterable}
    surroundings = Surroundings(has_vectors, filters, search.stages.keys())
    for stage in search.stages.values():
        problems += stage.find_problems(surroundings)
    return problems + _find_column_problems(search, sources)


def _find_fusion_problems(search: SearchSection, *, has_vectors: bool) -> list[str]:
    if not has_vectors:
        return [
            f"search.{key}: needs vectors, but embedding.provider is 'none'; remove it"
            for key in ("fusion", "semantic_weight", "keyword_weight", "k")
            if key in search.model_fields_set
        ]
    problems = []
    if search.fusion != "rrf" and "k" in search.model_fields_set:
        problems.append(f"search.k: only applies to fusion 'rrf', not {search.fusion!r}")
    try:
        if sum(resolve_weights(search)) == 0:
            problems.append("search: semantic_weight and keyword_weight must not both be 0")
    except ValueError as error:
        key = "semantic_weight" if search.keyword_weight is None else "keyword_weight"
        problems.append(f"search.{key}: {error}, got {getattr(search, key):g}")
    return problems


def _find_column_problems(search: SearchSection, sources: Sequence[Source]) -> list[str]:
    kept = {name for source in sources for name in getattr(source, "metadata", ())}
    kept |= {VERSION for source in sources if getattr(source, "versions", ())}
    problems = []
    for key, names in (
        ("filterable", search.filterable),
        ("fields.metadata", list(search.fields.metadata)),
    ):
        for name in names:
            if name in KNOWN_FIELDS and key == "filterable":
                problems.append(
                    f"search.filterable: every index can be filtered by {name!r} already; remove it"
                )
            elif name not in kept:
                listed = ", ".join(repr(column) for column in sorted(kept)) or "nothing"
                problems.append(
                    f"search.{key}: no source keeps {name!r}; add it to the metadata of one (kept"
                    f" now: {listed})"
                )
    return problems


def find_pinned_problems(answers: Sequence[PinnedAnswer], language: str) -> Iterator[str]:
    """Yield the problems of pinned answers that can be found without the index, with key paths."""
    tokenizer = Tokenizer(language)
    documents: dict[str, list[str]] = defaultdict(list)
    for number, answer in enumerate(answers):
        place = f"search.pinned.answers[{number}]"
        key = pinned_key(tokenizer, answer.query)
        if key is None:
            yield (
                f"{place}.query: {answer.query!r} has no searchable word, or too many; write it as"
                " people ask"
            )
            continue
        if answer.document in documents[key]:
            yield f"{place}: {answer.document!r} is pinned to this query twice"
        documents[key].append(answer.document)
        if len(documents[key]) == MAX_PINNED_DOCUMENTS + 1:
            yield (
                f"{place}: is answer {MAX_PINNED_DOCUMENTS + 1} to this query; at most"
                f" {MAX_PINNED_DOCUMENTS} are allowed"
            )


def resolve_weights(search: SearchSection) -> tuple[float, float]:
    """Return the weights of the semantic and the keyword lane.

    If only one is set, the other is 1 minus it; if neither is, they are DEFAULT_WEIGHTS. Raises
    ValueError if the only one that is set is above 1.
    """
    semantic, keyword = search.semantic_weight, search.keyword_weight
    if semantic is None:
        return DEFAULT_WEIGHTS[search.fusion] if keyword is None else (rest(keyword), keyword)
    return semantic, rest(semantic) if keyword is None else keyword


def filterable_columns(search: SearchSection, sources: Sequence[Source]) -> tuple[str, ...]:
    """Return the metadata columns that results can be filtered by, sorted."""
    versions = [VERSION for source in sources if getattr(source, "versions", ())]
    return tuple(sorted({*search.filterable, *versions}))
