"""The command `search`, and the format of its results in a terminal."""

import argparse
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .cli import Answer, Search
from .index.reader import current_index
from .index.records import page_of, shorten
from .retrieval.filters import read_pairs
from .retrieval.journal import GROUPS, MAX_TOP_K, MODES
from .retrieval.results import HEDGES, Hit, SearchResponse
from .retrieval.snippets import add_snippets

INDENT = " " * 5


def add_search(commands: Any) -> None:
    """Add the command `search`."""
    searching = commands.add_parser("search", help="print the best passages for a query")
    searching.set_defaults(answer=_search)
    add = searching.add_argument
    add("query", metavar="QUERY", help="put -- before a query that begins with a dash")
    add("--top-k", type=int, default=10, metavar="N", help=f"1 to {MAX_TOP_K} (%(default)s)")
    add(
        "--offset", type=int, default=0, metavar="N", help="number of results to skip (%(default)s)"
    )
    grouped = "group results by document or by passage (document; passage with --json)"
    add("--group", choices=(*GROUPS, "passage"), help=grouped)
    add("--mode", choices=MODES, default="hybrid")
    add("--source", action="append", help="only from this source; repeatable")
    add("--tag", dest="tags", action="append", metavar="TAG", help="only with this tag; repeatable")
    late = "only modified on this date or later"
    add("--modified-after", action="append", metavar="DATE", help=late)
    add("--modified-before", action="append", metavar="DATE", help="only modified earlier")
    fields = "only with this path, media_type or metadata column; repeatable"
    add("--filter", action="append", metavar="FIELD=VALUE", help=fields)
    output = searching.add_mutually_exclusive_group()
    output.add_argument(
        "--json", action="store_true", help="print the response as JSON, as from POST /search"
    )
    output.add_argument("--explain", action="store_true", help="print where each score comes from")


def _search(chosen: argparse.Namespace, search: Search) -> Answer:
    names = ("source", "tags", "modified_after", "modified_before")
    pairs = [f"{name}={value}" for name in names for value in getattr(chosen, name) or ()]
    # Programs get what POST /search returns by default.
    group = chosen.group or ("passage" if chosen.json else "document")
    response = search(
        chosen.query.strip(),
        chosen.top_k,
        filters=read_pairs([*pairs, *(chosen.filter or ())]),
        mode=chosen.mode,
        offset=chosen.offset,
        group=None if group == "passage" else group,
    )
    add_snippets(response, current_index().tokenizer)
    text = format_response(response, explain=chosen.explain, first=chosen.offset + 1)
    return response.to_json(), text, 0


def printable(text: str) -> str:
    """Return a text on one line without control characters, which terminals interpret."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else " " for character in text)


def format_response(response: SearchResponse, *, explain: bool = False, first: int = 1) -> str:
    """Return notices, and a paragraph for each hit; `explain` adds score details.

    Hits are numbered from `first`.
    """
    # A stage's notice may also be a sentence of the explanation.
    described = dict.fromkeys(map(printable, _describe_search(response, explain)))
    paragraphs: list[Iterable[str]] = [described]
    paragraphs += [
        _describe_hit(rank, hit, explain) for rank, hit in enumerate(response.hits, first)
    ]
    text = "\n\n".join(filter(None, map("\n".join, paragraphs)))
    return text if response.hits else f"{text}\n\nNothing found.".lstrip()


def _describe_search(response: SearchResponse, explain: bool) -> Iterator[str]:
    if explain:
        yield f"mode {response.mode}, reason {response.reason}, match {response.match}"
    elif response.degraded:
        yield f"Searched by keywords only ({response.reason})."
    if response.match in HEDGES and response.hits:
        yield f"{HEDGES[response.match]}; the closest passages are:"
    for name in response.unknown_identifiers:
        yield f"{name} occurs nowhere in these documents."
    for stage, details in response.stages.items():
        if "notice" in details:
            yield details["notice"]
        if explain or "failed" in details:
            yield f"{stage}: {', '.join(f'{name} {value}' for name, value in details.items())}"
    if not response.hits:
        yield from response.explanation


def _describe_hit(rank: int, hit: Hit, explain: bool) -> Iterator[str]:
    yield f"{rank:3}. {hit.score:.3f}  {_name_of(hit.titled_section())}"
    yield INDENT + printable(hit.url or hit.path) + _page_of(hit)
    if hit.pinned:
        yield f"{INDENT}pinned by the owner"
    if explain:
        ranks = hit.ranks.to_json()
        parts = [
            f"{lane} {'-' if score is None else f'{score:.4f}'}"
            + (f" (rank {ranks[lane]})" if ranks.get(lane) else "")
            for lane, score in hit.scores.to_json().items()
        ]
        parts += [f"{stage} x{factor:.3f}" for stage, factor in hit.boosts.items()]
        yield INDENT + ", ".join(parts)
    for line in map(printable, (hit.snippet or "").splitlines()):
        yield from textwrap.wrap(line, 100, initial_indent=INDENT, subsequent_indent=INDENT)
    for other in hit.more:
        yield f"{INDENT}- {_name_of(other.section or [other.title])}{_page_of(other)}"
        yield f"{INDENT}  {_shorten(other.snippet or '')}"
    for place in hit.also_at:
        named = dict.fromkeys(filter(None, [place.title, place.path, place.url]))
        yield f"{INDENT}also at {printable(', '.join(named))}"


def _name_of(headings: Sequence[str]) -> str:
    return _shorten(" > ".join(headings))


def _shorten(text: str) -> str:
    return printable(shorten(" ".join(text.split()), 100))


def _page_of(hit: Hit) -> str:
    page = page_of(hit.position)
    return f", page {printable(page)}" if page else ""
