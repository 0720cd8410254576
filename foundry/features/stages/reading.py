"""Declares the stages that read a query, or complete it, before it is searched for."""

from collections.abc import Iterator

from pydantic import Field

from foundry.features.snippet import Place, Step
from foundry.features.stage import Stage, Surroundings


class Operators(Stage):
    """[search.operators]: phrases, words that must or must not be there, filters in a query."""

    name = "operators"
    summary = '"exact phrases", -word, +word and field:value in queries'
    description = (
        'in a query, `"exact phrase"` and `+word` must be in a result, `-word` and `-"a phrase"`'
        " must not, and `field:value` is a filter; whatever is none of these is plain text. A"
        " phrase is looked for in the text of the best `phrase_chunks` chunks that have its words"
    )
    is_tuned = False
    section = """
## Operators in queries

`"exact phrase"` and `+word` must be in a result, `-word` and `-"exact phrase"` must not, and
`field:value` is a filter (`path:guide/`, `tag:"two words"`) if a passage has that value. A word
stands for all forms that a search takes for the same, a phrase for itself. All else is plain text:
`C++`, `-5`, `std::vector`, and a query that leaves nothing to search for. `stages.operators` of a
response says what was understood. A phrase is looked for in the {phrase_chunks} best passages with
its words; `unread` says how many more there were.
"""

    phrase_chunks: int = Field(default=300, ge=1, le=10_000)

    def steps(self) -> Iterator[Step]:
        """Take the operators out of the query, and narrow down what may be found."""
        module = "retrieval.stages.operators"
        yield Step(
            Place.PARSE,
            {module: ("apply_operators", "read_operators")},
            "operators = read_operators(index, plain, journal)\nplain = operators.text",
            readme="Operators are read from the query: see"
            " [Operators in queries](#operators-in-queries).",
        )
        yield Step(
            Place.NARROW,
            {},
            "allowed = apply_operators(operators, index, allowed, journal,"
            " phrase_chunks={phrase_chunks})",
        )


class Correction(Stage):
    """[search.correction]: words that no document has, corrected to those that some have."""

    name = "correction"
    tells_of_corpus = True
    summary = "misspelt words of queries become the nearest of the documents"
    description = (
        "a word of a query that no chunk has becomes the nearest of the `words` most frequent words"
        " of the documents: one edit away (a letter left out, put in, replaced or swapped), or two"
        " for a word of six letters or more; never what has a digit, what stands in quotes, or"
        " another word of the language. A response says what was searched for"
    )
    is_tuned = False
    built_in = frozenset({"words"})
    section = """
## Corrections

A word of a query that no document has is replaced by the nearest that some have, one or two edits
away; the more frequent wins. Whatever has a digit, stands in quotes or is another word of the
language stays. `stages.correction` of a response has the `query` that was searched for, and with
`original` one that searches for the words as they were typed: in quotes.
"""

    words: int = Field(default=400_000, ge=1_000, le=4_000_000)

    def steps(self) -> Iterator[Step]:
        """Correct the query."""
        yield Step(
            Place.PARSE,
            {"retrieval.stages.correction": ("correct_query",)},
            "plain = correct_query(index, plain, patterns, journal)",
            readme="Words that no document has are corrected: see [Corrections](#corrections).",
        )


class Synonyms(Stage):
    """[search.synonyms]: other forms of what a query names, from a file and from the documents."""

    name = "synonyms"
    tells_of_corpus = True
    summary = "other forms of what a query names: from a file, and acronyms of the documents"
    description = (
        "a query is also searched for by the synonyms of what it names, in both lanes: those of"
        " `file`, a group a line (`FK, forward kinematics`; one way: `k8s => kubernetes`), and with"
        " `acronyms` those that the documents explain, such as `forward kinematics (FK)`"
    )
    is_tuned = False
    built_in = frozenset({"file", "acronyms"})
    section = """
## Synonyms

A query that names one form of a thing (`FK`) is also searched for by its other forms (`forward
kinematics`), of which the index has a list. What no document has is left out of the search if
another form of it is known. `stages.synonyms` of a response says what was added.
"""

    file: str = ""
    acronyms: bool = True

    def steps(self) -> Iterator[Step]:
        """Add to what is searched for."""
        yield Step(
            Place.WIDEN,
            {"retrieval.stages.synonyms": ("add_synonyms",)},
            "searched, tokens, terms = add_synonyms(index, searched, tokens, terms, journal)",
            readme="Synonyms of what a query names are searched for as well: see"
            " [Synonyms](#synonyms).",
        )

    def find_problems(self, surroundings: Surroundings) -> Iterator[str]:
        """Yield a table that does nothing."""
        del surroundings
        if not self.file and not self.acronyms:
            yield "search.synonyms: does nothing; set file, or acronyms = true"


class Suggestions(Stage):
    """[search.suggestions]: how a query that is being typed may go on."""

    name = "suggestions"
    tells_of_corpus = True
    summary = "completions while a query is typed: GET /suggest, and on the page"
    description = (
        "`GET /suggest?q=` completes the last word of a query by the `words` most frequent words of"
        " the documents, and offers headings; the page shows both while somebody types"
    )
    is_tuned = False
    built_in = frozenset({"words"})
    section = """
## Suggestions

`GET /suggest?q=` completes the last word of a query that is being typed, and offers headings in
which the query stands at the beginning of a word. The page shows them: the arrow keys choose,
Enter searches, Escape closes the list.
"""

    words: int = Field(default=100_000, ge=1_000, le=4_000_000)

    def steps(self) -> Iterator[Step]:
        """Open an endpoint."""
        yield Step(
            Place.ANSWER,
            {"web.suggest": ("suggest_routes",)},
            "app.include_router(suggest_routes)",
        )


STAGES = (Operators, Correction, Synonyms, Suggestions)
