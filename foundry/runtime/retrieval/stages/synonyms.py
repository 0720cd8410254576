"""Synonyms: a query with one form of a term also searches for its other forms.

The build maps the index terms of each form to its synonyms: those in the project's file, and
acronyms with the expansions found in the documents.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from ...errors import IndexUnusableError, cause_of
from ...index.heading_terms import HEADING_MARK, heading_term, query_terms
from ...index.reader import Index, OpenedIndex
from ...index.tokens import Token
from ..identifiers import whole_terms
from ..journal import Journal, quote
from ..timing import stage

FOLDER = "synonyms"  # In the folder of an index
MAX_FORM_TERMS = 8
MAX_ADDED = 8  # Maximum number of forms added to a query
FORM_UNITS = 5_000  # Cost of adding a form
MAX_NAMED = 128  # Words of a query that are checked for forms; further ones are mostly repetitions.

Forms = Mapping[str, list[str]]
"""Maps the index terms of a form, joined by spaces, to its synonyms."""


class SynonymsLayout:
    """The files under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.forms = root / "forms.json"  # `Forms`
        self.groups = root / "groups.json"  # For humans: forms, with their synonyms and reasons


def form_key(tokens: Iterable[Token]) -> str:
    """Return the lookup key of a form: its terms; for an identifier, the term of the whole."""
    return " ".join(term for token in tokens for term in whole_terms(token))


def open_forms(index: OpenedIndex) -> Forms:
    """Read the synonyms of an index. Raises IndexUnusableError."""
    path = SynonymsLayout(index.layout.root / FOLDER).forms
    try:
        forms = json.loads(path.read_bytes())
        return {str(key): [str(form) for form in found] for key, found in forms.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        problem = f"{path}: unreadable: {cause_of(error)}"
        raise IndexUnusableError(f"{problem}; synonyms need it") from None


@stage("synonyms")
def add_synonyms(
    index: Index, searched: str, tokens: Sequence[Token], terms: Sequence[str], journal: Journal
) -> tuple[str, list[Token], list[str]]:
    """Return the query's text, tokens and terms with those of its synonyms.

    The text, which is embedded, only gains synonyms that are in more chunks than the query's own
    form: rarer ones would move the vector away from the documents. Forms that are in no chunk are
    removed from the tokens.

    A query that is a heading must remain the best match for that heading. So its text is unchanged,
    headings with other forms do not count as named, and synonyms that would outweigh it are left
    out: those with more terms in fewer chunks.
    """
    forms = index.part(open_forms)
    heading = heading_term(tokens)
    is_heading = heading is not None and index.keyword_lane.frequency(heading) > 0
    named = [token for token in tokens if token.terms][:MAX_NAMED]
    left_out: list[Token] = []
    added: dict[str, list[str]] = {}
    texts, more = [searched], list[str]()
    for start, end in _find_forms(forms, named):
        form = named[start:end]
        own = _frequency(index, form)
        found = forms[form_key(form)]
        if is_heading:
            found = [other for other in found if not _outweighs(index, other, form, own)]
        found = found[: MAX_ADDED - sum(map(len, added.values()))]
        found = [*takewhile(lambda _: journal.spend("synonyms", FORM_UNITS), found)]
        if not found:
            continue
        added[" ".join(token.text for token in form)] = found
        left_out += form if not own else []
        for other in found:
            replaced = index.tokenizer.tokenize(other)
            more += [term for token in replaced for term in token.terms]
            if not is_heading:
                texts += [other] if _frequency(index, replaced) > own else []
                whole = query_terms([*named[:start], *replaced, *named[end:]])
                more += [term for term in whole if term.startswith(HEADING_MARK)]
    if not added:
        return searched, [*tokens], [*terms]
    told = (
        f"{quote([form])} was also searched for as {quote(others)}."
        for form, others in added.items()
    )
    journal.note("synonyms", *told, added=added)
    # A term counts once, even if several forms contain it.
    new = [term for term in dict.fromkeys(more) if term not in terms]
    return " ".join(texts), [token for token in tokens if token not in left_out], [*terms, *new]


def _outweighs(index: Index, other: str, form: Sequence[Token], own: int) -> bool:
    """Return whether a synonym has more terms than a form, and is in at most `own` chunks."""
    replaced = index.tokenizer.tokenize(other)
    is_longer = len(form_key(replaced).split(" ")) > len(form_key(form).split(" "))
    return is_longer and _frequency(index, replaced) <= own


def _frequency(index: Index, form: Iterable[Token]) -> int:
    """Return the document frequency of the rarest term of a form."""
    return min(map(index.keyword_lane.frequency, form_key(form).split(" ")))


def _find_forms(forms: Forms, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the positions of the longest forms among tokens with terms, from left to right."""
    keys = [form_key([token]) for token in tokens]
    found, start = dict[str, tuple[int, int]](), 0
    while start < len(tokens):
        stop = min(len(tokens), start + MAX_FORM_TERMS)
        for end in range(stop, start, -1):
            key = " ".join(keys[start:end])
            if key in forms:
                found.setdefault(key, (start, end))
                start = end
                break
        else:
            start += 1
    return [*found.values()]
