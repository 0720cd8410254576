"""How the scores of a response came about, as a table for people."""

from collections.abc import Mapping

from .result_text import describe_unknown, place_of, printable
from .results import Hit, Reason, SearchResponse
from .text_table import format_table

REASONS: Mapping[Reason, str] = {
    "default": "both lanes were asked and joined",
    "requested": "this mode was asked for",
    "identifier": "the query is nothing but an identifier, which keywords find exactly",
    "no_vectors": "there is no vector for the query, so only keywords could be compared",
    "embedder_unavailable": "the service that embeds queries does not answer",
}


def explain_response(response: SearchResponse) -> str:
    """Mode and reason in words, then each hit's score, its lanes' scores and ranks, its boosts."""
    heading = f"mode {response.mode}: {REASONS[response.reason]}"
    if response.unknown_identifiers:
        heading += f"\n{describe_unknown(response)}"
    for stage, said in response.stages.items():
        details = ", ".join(f"{name} {value}" for name, value in said.items())
        heading += f"\n{stage}: {printable(details)}"
    if not response.hits:
        return f"{heading}\n\nNothing found."
    boosts = list(dict.fromkeys(name for hit in response.hits for name in hit.boosts))
    read = ("read",) if any(hit.rerank is not None for hit in response.hits) else ()
    columns = ("#", "score", *read, "semantic", "rank", "keyword", "rank", *boosts, "passage")
    rows = [_row(number, hit, boosts, read) for number, hit in enumerate(response.hits, start=1)]
    passages = [row[-1] for row in rows]
    table = format_table([columns[:-1], *(row[:-1] for row in rows)]).split("\n")
    joined = zip(table, [columns[-1], *passages], strict=True)
    return "\n".join([heading, "", *(f"{line}  {passage}" for line, passage in joined)])


def _row(number: int, hit: Hit, boosts: list[str], read: tuple[str, ...]) -> tuple[str, ...]:
    return (
        str(number),
        f"{hit.score:.4f}",
        *(_score(hit.rerank) for _ in read),
        _score(hit.semantic),
        _rank(hit.semantic_rank),
        _score(hit.keyword),
        _rank(hit.keyword_rank),
        *(f"x{hit.boosts[name]:.3f}" if name in hit.boosts else "-" for name in boosts),
        f"{place_of(hit)}  ({printable(hit.chunk.path)})",
    )


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.4f}"


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)
