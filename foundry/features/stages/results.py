"""Declares the stages that drop, merge and extend results."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from foundry.features.calls import ASKED, Call
from foundry.features.feature import Strings, Table
from foundry.features.search_step import SearchPlace, SearchStep
from foundry.features.stage import Share, Stage, Surroundings


class MinimumScore(Stage):
    """[search.minimum_score]: drops results below a minimum score; None sets no minimum."""

    name = "minimum_score"
    summary = "leaves out results with low scores"
    description = (
        "leaves out results that reach neither the `semantic` (cosine) nor the `keyword`"
        " (relative to the best) minimum, or that do not reach the final `score`"
    )
    is_tuned = False

    semantic: Share | None = None
    keyword: Share | None = None
    score: Share | None = None

    def steps(self) -> Iterator[SearchStep]:
        """Yield the steps that drop results by the lanes' scores, and by the final score."""
        module = "retrieval.stages.minimum_score"
        lanes = [lane for lane in ("semantic", "keyword") if getattr(self, lane) is not None]
        if lanes:
            limits = " and their ".join(f"{lane} score is below {{{lane}}}" for lane in lanes)
            yield SearchStep(
                SearchPlace.SIFT,
                Call(module, "require_lane_score", ("candidates", "journal"), (*lanes,)),
                readme=f"Passages are left out if their {limits}.",
            )
        if self.score is not None:
            yield SearchStep(
                SearchPlace.FINISH,
                Call(module, "require_score", ("candidates", "journal"), ("minimum",)),
                values={"minimum": self.score},
                readme="Passages that score below {score} are left out.",
            )

    def find_problems(self, surroundings: Surroundings) -> Iterator[str]:
        """Yield a problem if there are no keys, or a minimum for cosines without vectors."""
        if not self.model_fields_set:
            yield "search.minimum_score: does nothing; set semantic, keyword or score"
        if self.semantic is not None and not surroundings.has_vectors:
            yield (
                "search.minimum_score.semantic: needs vectors, but embedding.provider is 'none';"
                " remove it"
            )

    @classmethod
    def document_keys(cls) -> Iterator[str]:
        """Yield a description in place of defaults, since there are none."""
        yield "at least one of `semantic`, `keyword` and `score`, none by default"


class NearDuplicates(Stage):
    """[search.near_duplicates]: shows one result of each group with nearly equal texts."""

    name = "near_duplicates"
    summary = "shows one result of several with nearly the same text"
    description = (
        "merges near-duplicates among the best 200 results: only the best of them is shown. Its"
        " `near_duplicates` lists the ids of the others, and its `also_at` their documents."
        " Near-duplicates have nearly the same words (a Jaccard index of word pairs of at least"
        " `similarity`) and the same numbers, and do not contradict each other (`must`, `must"
        " not`). Results with equal texts, titles and headings are always merged in this way"
    )
    hits_compared = 2
    is_in_new = True

    similarity: float = Field(default=0.8, ge=0.5, le=1)

    search_step = SearchStep(
        SearchPlace.MERGE,
        Call(
            "retrieval.stages.near_duplicates",
            "merge_near_duplicates",
            ("hits", "wanted", "index", "journal"),
            ("similarity",),
        ),
        readme="Of passages with nearly the same text, only the best is a result.",
    )


MAX_FOLDERS = 100
"""Maximum number of folders of versions."""


class Versions(Stage):
    """[search.versions]: shows one version of each page."""

    name = "versions"
    summary = "shows the newest version of a page: name the folders, newest first"
    description = (
        "shows one version of each page, if every version has a folder of its own: the version"
        " that the query mentions, or else the first in the order of `folders`"
        ' (`""` stands for all other paths). `also_at` lists the other versions that were found.'
        " An older version is shown in place of a newer one only if the newer one scores less than"
        " `share` of the older one's score. Versions are never merged as copies"
    )

    hits_compared = 10
    built_in = frozenset({"folders"})

    folders: Strings = Field(min_length=2, max_length=MAX_FOLDERS)
    share: Share = 0.8

    def steps(self) -> Iterator[SearchStep]:
        """Yield the steps that choose among hits, and drop versions from unknown identifiers."""
        module = "retrieval.stages.versions"
        folders = Call(module, "read_folders")
        yield SearchStep(SearchPlace.KNOW, Call(module, "forget_versions", ("journal", folders)))
        chosen = ("hits", "wanted", "query", folders, "journal")
        yield SearchStep(
            SearchPlace.PREFER,
            Call(module, "prefer_version", chosen, ("share",)),
            readme="Of several versions of a page, results show the newest, or the one that the"
            " query names.",
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """The folders without outer slashes."""
        return tuple(folder.strip("/") for folder in self.folders)

    def find_problems(self, surroundings: Surroundings) -> Iterator[str]:
        """Yield a problem for each folder that is listed twice."""
        del surroundings
        for number, name in enumerate(self.paths):
            if name in self.paths[:number]:
                yield f"search.versions.folders[{number}]: {name!r} is listed twice; remove one"

    def own_settings(self) -> Mapping[str, object]:
        """Return the folders."""
        return {"folders": list(self.folders)}


MAX_ANSWERS = 1_000
MAX_PINNED_DOCUMENTS = 5
"""Maximum number of documents pinned to one query."""


class PinnedAnswer(Table):
    """An entry of `answers`: a query, and the path, url or id of the document that answers it."""

    query: str = Field(min_length=1, max_length=200)
    document: str = Field(min_length=1, max_length=2_000)


class Pinned(Stage):
    """[[search.pinned.answers]]: puts chosen documents first for a query."""

    name = "pinned"
    choice = "[[search.{name}.answers]]"
    summary = "shows documents of your choice first: [[search.pinned.answers]]"
    description = (
        'each answer, such as `{ query = "vpn", document = "it/access.md" }`, puts a document'
        " (given by path, url or id) first for a query, even if the document would not be found"
        " otherwise. It has `pinned: true` and a score of 1. Case, punctuation and question words"
        " are ignored: `What is the VPN?` is the same as `vpn`. Filters and rights still apply. If"
        " a query has several pinned documents, they are shown in the order of the answers"
    )
    is_tuned = False
    built_in = frozenset({"answers"})

    answers: tuple[PinnedAnswer, ...] = Field(strict=False, min_length=1, max_length=MAX_ANSWERS)

    search_step = SearchStep(
        SearchPlace.PIN,
        Call(
            "retrieval.stages.pinned",
            "pin_documents",
            ("hits", "index", "candidates", "allowed", ASKED, "journal"),
        ),
        readme="Documents that are pinned to a query come first.",
    )


class DocumentCap(Stage):
    """[search.document_cap]: limits the number of results per document."""

    name = "document_cap"
    summary = "limits the results of one document"
    description = "shows at most `hits` results of one document, to make room for others"

    hits: int = Field(default=3, ge=1, le=100)

    def steps(self) -> Iterator[SearchStep]:
        """Yield the step that drops hits beyond the cap of their document."""
        yield SearchStep(
            SearchPlace.CHOOSE,
            Call("retrieval.stages.document_cap", "cap_documents", ("hits", "journal"), ("most",)),
            values={"most": self.hits},
            readme="A document has at most {hits} results.",
        )


class Parents(Stage):
    """Adds the parent passage to each result, for `[chunking] strategy = "parent"`."""

    name = "parents"
    choice = '[chunking] strategy = "parent"'

    search_step = SearchStep(
        SearchPlace.CHOOSE,
        Call("retrieval.stages.parents", "expand_parents", ("hits", "wanted", "index", "journal")),
        readme="Each result has the larger passage around it; of several results with the same"
        " passage, the best is kept.",
    )


class Facets(Stage):
    """[search.facets]: counts filter values among the results."""

    name = "facets"
    summary = "counts results by source, folder, tag ...: choices on the page, facets over HTTP"
    description = (
        "if a search requests `facets`, the response also counts filter values: how many of the"
        " best `passages` have each source, folder (`path`), tag, media type and value of a"
        " metadata column. For each filter, it has the `choices` most frequent values. The page"
        " offers them for narrowing the search. Passages are counted before equal ones are merged"
    )
    is_in_new = True
    is_tuned = False
    files = ("package/page/facets.css", "package/page/facets.js")

    passages: int = Field(default=100, ge=10, le=1_000)
    choices: int = Field(default=8, ge=1, le=100)

    switch = "facets"
    search_step = SearchStep(
        SearchPlace.FINISH,
        Call(
            "retrieval.stages.facets",
            "note_facets",
            ("facets", "candidates", "index", "journal"),
            ("passages", "choices"),
        ),
        sets=(),
        readme="If `facets` are requested, values of filters are counted among the best {passages}"
        " passages.",
    )


STAGES = (MinimumScore, NearDuplicates, Versions, Pinned, DocumentCap, Facets)
