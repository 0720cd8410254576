"""Declares the stages that interpret or complete a query before the search."""

from collections.abc import Iterator

from pydantic import Field

from foundry.features.app_step import include
from foundry.features.calls import ASKED, Call, Imported
from foundry.features.search_step import SearchPlace, SearchStep
from foundry.features.stage import Share, Stage, Surroundings


class Operators(Stage):
    """[search.operators]: reads phrases, required and excluded words, and filters in a query."""

    name = "operators"
    summary = 'understands "exact phrases", -word, +word and field:value in queries'
    description = (
        'understands operators in queries: `"exact phrase"` and `+word` must be in a result,'
        ' `-word` and `-"a phrase"` must not, `field:value` is a filter, and `-field:value`'
        " excludes. Anything else is plain text. A phrase is checked in the text of the"
        " `phrase_chunks` best chunks that contain its words"
    )
    is_in_new = True
    is_tuned = False
    section = "operators"

    phrase_chunks: int = Field(default=300, ge=1, le=10_000)

    def steps(self) -> Iterator[SearchStep]:
        """Yield the steps that remove operators from the query and restrict the allowed chunks."""
        module = "retrieval.stages.operators"
        yield SearchStep(
            SearchPlace.PARSE,
            Call(module, "read_operators", ("index", ASKED, "journal")),
            sets=("plain", "operators"),
            readme="Operators are read from the query: see"
            " [Operators in queries](#operators-in-queries).",
        )
        narrowed = ("allowed", "operators", "index", "journal")
        yield SearchStep(
            SearchPlace.NARROW,
            Call("retrieval.stages.narrowing", "apply_operators", narrowed, ("phrase_chunks",)),
        )


class Correction(Stage):
    """[search.correction]: corrects words that no document contains."""

    name = "correction"
    tells_of_corpus = True
    summary = "corrects misspelt words in queries"
    description = (
        "replaces a query word that occurs in no chunk with the nearest of the corpus's `words`"
        " most frequent words: one edit away (a letter missing, added, wrong or swapped), or two"
        " for words of eight letters or more. Words with a digit, quoted words and common words"
        " of the language are not corrected. The response has the corrected query"
    )
    is_in_new = True
    is_tuned = False
    built_in = frozenset({"words"})
    section = "correction"

    words: int = Field(default=400_000, ge=1_000, le=4_000_000)

    search_step = SearchStep(
        SearchPlace.PARSE,
        Call(
            "retrieval.stages.correction",
            "correct_query",
            ("index", ASKED, "patterns", "journal"),
        ),
        readme="Misspelt words are corrected: see [Corrections](#corrections).",
    )


class Synonyms(Stage):
    """[search.synonyms]: adds synonyms of the query's words, from a file and from documents."""

    name = "synonyms"
    tells_of_corpus = True
    summary = "also searches for synonyms, from a file and from acronyms in the documents"
    description = (
        "also searches, in both lanes, for synonyms of the query's words. They come from `file`,"
        " which has one group per line (`FK, forward kinematics`; one way: `k8s => kubernetes`)."
        " With `acronyms`, they also come from explanations in the documents, such as `forward"
        " kinematics (FK)`"
    )
    is_tuned = False
    built_in = frozenset({"file", "acronyms"})
    section = "synonyms"

    file: str = ""
    acronyms: bool = True

    search_step = SearchStep(
        SearchPlace.WIDEN,
        Call(
            "retrieval.stages.synonyms",
            "add_synonyms",
            ("index", "searched", "tokens", "terms", "journal"),
        ),
        readme="Synonyms of words in a query are searched for as well: see"
        " [Synonyms](#synonyms).",
    )

    def find_problems(self, surroundings: Surroundings) -> Iterator[str]:
        """Yield a problem if the table does nothing."""
        del surroundings
        if not self.file and not self.acronyms:
            yield "search.synonyms: does nothing; set file, or acronyms = true"


class Languages(Stage):
    """[search.languages]: reports questions in a different language from the documents."""

    name = "languages"
    summary = "reports when a question is in a different language from the documents"
    description = (
        "shows a notice, on the page, in the chat, over MCP and in `stages`, if a question seems"
        " to be in a different language from the documents. The language is recognised by its"
        " script, or by frequent words of Dutch, English, French, German, Italian, Portuguese and"
        " Spanish. There is no notice if the words that indicate the language occur, on average,"
        " in more than this `share` of the chunks. Embedding models other than the built-in one may"
        " support several languages, so there is no notice with them"
    )
    is_tuned = False

    share: Share = 0.02

    search_step = SearchStep(
        SearchPlace.WIDEN,
        Call(
            "retrieval.stages.languages",
            "note_language",
            ("index", "query", "journal"),
            ("share",),
        ),
        sets=(),
        readme="A notice is shown if a question is in a different language from the documents.",
    )


class Suggestions(Stage):
    """[search.suggestions]: completes a query while it is typed."""

    name = "suggestions"
    tells_of_corpus = True
    summary = "completes queries while they are typed: GET /suggest, and on the page"
    description = (
        "`GET /suggest?q=` completes the last word of a query with the corpus's `words` most"
        " frequent words, and suggests headings; the page shows both while the user types"
    )
    is_in_new = True
    is_tuned = False
    built_in = frozenset({"words"})
    files = ("package/page/suggest.css", "package/page/suggest.js")
    section = "suggestions"

    words: int = Field(default=100_000, ge=1_000, le=4_000_000)

    app_steps = (include(Imported("web.suggest", "suggest_routes")),)


class Expansion(Stage):
    """[search.expansion]: adds similar words of the corpus to the query, for the semantic lane."""

    name = "expansion"
    tells_of_corpus = True
    summary = "adds similar words of the corpus to the semantic query"
    description = (
        "in the semantic lane, adds up to `terms` words to the query: those of the corpus's"
        " `vocabulary` most frequent words that are closest to the query, with a cosine of at least"
        " `minimum_cosine`. Queries with an identifier are not changed"
    )
    needs_vectors = True
    built_in = frozenset({"vocabulary"})

    terms: int = Field(default=3, ge=1, le=20)
    minimum_cosine: Share = 0.5
    vocabulary: int = Field(default=4096, ge=1, le=65_536)

    search_step = SearchStep(
        SearchPlace.EMBED,
        Call(
            "retrieval.stages.expansion",
            "expand_query",
            ("index", "searched", "tokens", "vector", "journal"),
            ("terms", "minimum_cosine"),
        ),
        readme="Up to {terms} words of the documents that are close to the query are added to"
        " its embedding.",
    )


STAGES = (Languages, Operators, Correction, Synonyms, Expansion, Suggestions)
