"""Documents the Python interface of a server and the fields of its answers, for docs/.

Names and types come from the records, meanings from `MEANINGS`. A field without a meaning, or a
meaning without a field, is an error.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from foundry.runtime.chat.answer import SourceOfAnswer, Sources
from foundry.runtime.chat.support import CheckedDone
from foundry.runtime.index.records import Place, Record
from foundry.runtime.retrieval.results import Hit, SearchResponse
from foundry.runtime.web.problems import ProblemDocument

PACKAGE = Path(__file__).parent.parent / "golden" / "minimal" / "expected" / "workshop"

MEANINGS: dict[type[Record], dict[str, str]] = {
    SearchResponse: {
        "query": "The query of the request.",
        "mode": "The mode that was used.",
        "reason": (
            "Why this mode was used: it is the default or was requested, the query is an"
            " identifier, the index has no vectors, or the query could not be embedded."
        ),
        "degraded": "Whether search by meaning was requested, but not possible.",
        "match": "How well the best result matches; `none` if there is hardly any evidence.",
        "unknown_identifiers": "Identifiers in the query that no document contains.",
        "took_ms": "How long the search took, in milliseconds.",
        "stages": "What each [stage](stages.md) changed, or why it failed; `notice` is for users.",
        "explanation": "What the stages did, in sentences.",
        "facets": (
            "If requested, [values to narrow the search](http-and-mcp.md#search): the number of"
            " `counted` passages, and for each of `filters` its `values`, each with a `count`, and"
            " the number of `others`."
        ),
        "results": "The results, best first; in Python `hits`.",
    },
    Hit: {
        "id": "The chunk's id. It survives changes elsewhere in the document.",
        "document_id": "The document's id.",
        "title": "The document's title.",
        "text": "The passage, verbatim.",
        "section": "The headings above it, outermost first.",
        "position": "Its place in the document.",
        "source": "The name of the source.",
        "path": "The document's path.",
        "url": "Its url, if it has one.",
        "tags": "The document's tags.",
        "modified": "The date when the document was last modified (ISO 8601).",
        "also_at": "Other places with the same passage (at most 100), and those of merged results.",
        "score": "From 0 to 1; results are ordered by it.",
        "scores": "The score in each lane.",
        "ranks": "The rank in each lane.",
        "boosts": "The factor by which each stage multiplied the score.",
        "near_duplicates": "Ids of the results that were merged into this one.",
        "passage": 'With `strategy = "parent"`, the larger passage: `text`, `section`, `position`.',
        "pinned": "Whether it is a [pinned answer](stages.md#pinned-answers).",
        "snippet": "Plain text around the words of the query, for display.",
        "highlights": "Positions of the query's words in `snippet`, `title` and each of `section`.",
        "snippet_code": "Positions of code in the snippet.",
        "more": 'With `group = "document"`: at most two further passages of the document.',
    },
    Place: {
        "document_id": "The other document's id.",
        "source": "The name of its source.",
        "path": "Its path.",
        "url": "Its url, if it has one.",
        "title": "Its title.",
    },
    Sources: {
        "query": "The query that was searched for; `null` if the message asks nothing.",
        "query_from": "Where the query comes from.",
        "query_notice": "Why the model did not write the query.",
        "mode": "As in a [response](#a-response).",
        "reason": "As in a [response](#a-response).",
        "degraded": "As in a [response](#a-response).",
        "match": "As in a [response](#a-response).",
        "unknown_identifiers": "As in a [response](#a-response).",
        "stages": "As in a [response](#a-response).",
        "sources": (
            "The passages that the answer may cite, as `[number]`: "
            + ", ".join(f"`{field.name}`" for field in fields(SourceOfAnswer))
            + "."
        ),
        "also_searched": "The user's own words, searched in addition to a model's query.",
    },
    CheckedDone: {
        "mode": "Whether a language model wrote the answer, or it quotes sentences.",
        "reason": "Why the answer has this `mode`.",
        "notice": "A message for readers.",
        "cited": "The passages that the answer cites: `number`, `id`, `title`, `url`.",
        "truncated": "Whether the answer was cut off.",
        "usage": "The number of tokens that a language model used.",
        "unsupported": (
            "[Sentences of a model's answer that no passage supports]"
            "(how-it-searches.md#checked-answers): `sentence`, `lacks`, `missing`."
        ),
    },
    ProblemDocument: {
        "type": "Always `about:blank`.",
        "title": "The name of the status.",
        "status": "The HTTP status.",
        "detail": "The problem, and how to correct it.",
        "errors": "The name (`field`) of each wrong field, and a `message`.",
    },
}

PYTHON = {
    "search_hybrid": (
        "Searches; returns a `SearchResponse`. `query` has 1 to 2,000 characters, `top_k` is 1 to"
        " 100, `mode` is `hybrid`, `semantic` or `keyword`, and `filters` are"
        " [filters](how-it-searches.md#filters), such as `{'tags': ['safety']}`."
        " `lane_weights` are the weights of meaning and keywords for this search alone, such as"
        " `(0.9, 0.1)`. The first `offset` results are skipped; with `group='document'` each"
        " result is a document, with its best passages. With `[search.facets]` it also takes"
        " `facets`."
    ),
    "load": (
        "Opens the index in `index_dir`, else in `INDEX_DIR`, else in the package. With `verify`,"
        " its files are compared with their hashes in the background."
    ),
    "SearchResponse": "The result of a search: [a response](#a-response), with `to_json()`.",
    "Hit": "[A result](#a-result), with `to_json()`.",
    "InvalidRequestError": "Raised for an invalid request; `field` names the argument.",
    "__version__": "The version of Foundry that wrote the server.",
}


def rows_of(record: type[Record]) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and meaning of each field of an answer. Raises KeyError for a new one."""
    meanings, hints = dict(MEANINGS[record]), get_type_hints(record)
    for field in fields(record):  # type: ignore[arg-type]
        if not field.metadata.get("exclude"):
            name = field.metadata.get("alias", field.name)
            yield f"`{name}`", _in_words(hints[field.name]), meanings.pop(name)
    assert not meanings, f"{record.__name__} has none of {[*meanings]}: correct MEANINGS"


def rows_of_python() -> Iterator[tuple[str, str]]:
    """Yield the names of a server's package, each with its purpose."""
    written = {
        "search_hybrid": _arguments(PACKAGE / "search.py", "search_hybrid"),
        "load": _arguments(PACKAGE / "index" / "reader.py", "load").replace("self, ", ""),
    }
    exported = re.search(r"__all__ = (\[.+\])", (PACKAGE / "__init__.py").read_text("utf-8"))
    assert exported is not None
    assert sorted(PYTHON) == sorted(ast.literal_eval(exported[1]))
    for name, meaning in PYTHON.items():
        arguments = f"({written[name]})" if name in written else ""
        yield f"`{name}{arguments}`", meaning


def _arguments(module: Path, name: str) -> str:
    """Return the arguments of a function as written, without their types."""
    tree = ast.parse(module.read_text("utf-8"))
    found = next(
        each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == name
    )
    for argument in (*found.args.args, *found.args.kwonlyargs):
        argument.annotation = None
    return ast.unparse(found.args)


def _in_words(annotation: Any) -> str:
    """Return the JSON type for an annotation, in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(_in_words, arguments)))
    if origin is tuple and Ellipsis not in arguments:
        return "pair of numbers"
    if origin in (list, tuple):
        return f"list of {PLURALS.get(said := _in_words(arguments[0]), said)}"
    return KINDS.get(annotation, "object")


KINDS: dict[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "number",
    float: "number",
    NoneType: "null",
}
PLURALS = {"text": "texts", "object": "objects", "pair of numbers": "pairs of numbers"}
