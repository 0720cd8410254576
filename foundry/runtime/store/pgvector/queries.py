"""SQL of searches, and the tables of a schema, which all versions share.

    chunks       row, key of the chunk, hash of its content, values for filters
    vectors_<d>  row, vector (int8 numbers as halfvec, which represents them exactly), scale
    postings     term, row, count, length of the chunk
    records      row, JSON line of the chunk, and of the document that begins with it
    retired      row, and the first version that no longer contains it
    versions     range of rows, sizes, and the recall of the graph if there is one
    pointer      the current version

A row is written once and never changed. A version consists of the rows in its range, except those
retired by then, so versions share the rows that they have in common.

The sparse vectors of pgvector cannot replace the postings: they are limited to 16,000 terms.
"""

from collections.abc import Sequence
from typing import Any, LiteralString, NamedTuple

from psycopg import sql

from ...index.heading_terms import NAMED
from ...retrieval.quantising import QuantisedVector
from ..restriction import Restriction
from ..store import Edition
from .filters import conditions_of

GRAPH_DEPTH = 200
"""Minimum number of candidates in the graph (hnsw.ef_search); pgvector allows up to 1,000."""

VISIBLE: LiteralString = (
    "one.row BETWEEN {first} AND {last} AND NOT EXISTS"
    " (SELECT FROM {retired} AS gone WHERE gone.row = one.row AND gone.until <= {number})"
)
"""Condition: the row is part of the version."""

_COSINE = "-(vector <#> %(vector)s::halfvec) * scale::float8 * %(scale)s::float8"
# Impacts are computed and rounded as in a build.
_IMPACT = (
    "(CASE WHEN asked.is_heading THEN one.count / {named}::float8 * asked.weight"
    " ELSE one.count / ({k1}::float8 * ({rest}::float8 + {b}::float8 *"
    " (one.length / {average}::float8)) + one.count) * asked.weight END)::real::float8"
)
_ASKED = (
    "unnest(%(terms)s::bigint[], %(weights)s::float8[], %(headings)s::boolean[],"
    " %(times)s::float8[]) AS asked (term, weight, is_heading, times) USING (term)"
)
_SUMS = (
    f"SELECT one.row, sum({_IMPACT} * asked.times) AS score FROM {{postings}} AS one JOIN {_ASKED}"
)
# All ties with the last hit are included: ties are broken by chunk number, which the engine does
# not have.
_BEST = "ORDER BY score DESC FETCH FIRST (%(count)s) ROWS WITH TIES"
NEAREST = (
    f"SELECT one.row, {_COSINE} AS score FROM {{vectors}} AS one"
    f" WHERE scale > 0 AND {VISIBLE}{{passing}} {_BEST}"
)
NEAREST_OF_GRAPH = (
    f"SELECT row, {_COSINE} AS score FROM (SELECT one.* FROM {{vectors}} AS one"
    f" WHERE scale > 0 AND {VISIBLE}{{passing}}"
    f" ORDER BY vector <=> %(vector)s::halfvec LIMIT %(depth)s) AS near {_BEST}"
)
# Iterative scan: the graph is searched further until enough rows pass the filters.
SET_GRAPH_DEPTH = (
    "SELECT set_config('hnsw.ef_search', %s, true),"
    " set_config('hnsw.iterative_scan', 'relaxed_order', true)"
)
_MATCHING = f"{_SUMS} WHERE {VISIBLE}{{passing}} GROUP BY one.row {_BEST}"
PASSING = " AND one.row IN (SELECT row FROM {chunks} WHERE {condition})"
_OWNERS = "JOIN {chunks} AS owner USING (row)"
SEARCH_VECTOR = f"SELECT owner.key, score FROM ({NEAREST}) AS found {_OWNERS}"
SEARCH_GRAPH = f"SELECT owner.key, score FROM ({NEAREST_OF_GRAPH}) AS found {_OWNERS}"
SEARCH_TERMS = f"SELECT owner.key, score FROM ({_MATCHING}) AS found {_OWNERS}"
_WANTED = f"WHERE owner.key = ANY(%(wanted)s) AND {VISIBLE}"
SCORE_VECTOR = f"SELECT owner.key, {_COSINE} FROM {{vectors}} AS one {_OWNERS} {_WANTED}"
SCORE_TERMS = (
    f"SELECT owner.key, sum({_IMPACT} * asked.times) FROM {{postings}} AS one {_OWNERS}"
    f" JOIN {_ASKED} {_WANTED} GROUP BY owner.key"
)
_RECORD_OF = "FROM {records} AS one " + _OWNERS + " " + _WANTED
READ_CHUNKS = f"SELECT owner.key, one.chunk {_RECORD_OF}"
READ_DOCUMENTS = f"SELECT owner.key, one.document {_RECORD_OF}"
# If there are many ties, no records are returned, because most of them would be discarded.
FIND_RECORDS = (
    f"WITH found AS MATERIALIZED ({_MATCHING}) SELECT owner.key, score, told.chunk"
    f" FROM found {_OWNERS} LEFT JOIN {{records}} AS told"
    " ON told.row = found.row AND (SELECT count(*) FROM found) <= 2 * %(count)s"
)
# Arrays make the planner expect few rows, so it does not scan the table.
SEARCH_BOTH = (
    f"WITH near AS MATERIALIZED ({{near}}), matching AS MATERIALIZED ({_MATCHING})"
    f" SELECT 0, owner.key, score FROM near {_OWNERS}"
    f" UNION ALL SELECT 1, owner.key, score FROM matching {_OWNERS}"
    f" UNION ALL SELECT 2, owner.key, {_COSINE} FROM {{vectors}} AS one {_OWNERS}"
    " WHERE one.row = ANY(ARRAY(SELECT row FROM matching EXCEPT SELECT row FROM near))"
    f" UNION ALL SELECT 3, owner.key, score FROM ({_SUMS}"
    " WHERE one.row = ANY(ARRAY(SELECT row FROM near EXCEPT SELECT row FROM matching))"
    f" GROUP BY one.row) AS added {_OWNERS}"
)
CHECK = (
    "SELECT number, first, last, dimensions, average FROM {versions} AS held"
    " WHERE version = {version}"
    " AND (records OR NOT {needs_records})"
    " AND EXISTS (SELECT FROM {chunks} WHERE row BETWEEN held.first AND held.last)"
    " AND EXISTS (SELECT FROM {postings} WHERE row BETWEEN held.first AND held.last)"
)
UNCHANGED = "SELECT FROM {versions} WHERE version = {version} AND number = {number}"


class VersionRows(NamedTuple):
    """An entry of the table of versions: `first` and `last` are its range of rows.

    `number` counts the versions from 1. `average` is the mean length of chunks, for BM25.
    """

    number: int
    first: int
    last: int
    dimensions: int
    average: float


def tables_of(schema: str, rows: VersionRows | None = None) -> dict[str, sql.Composable]:
    """Return the table names and the values of a version's entry, by placeholder in queries."""
    names = ("versions", "pointer", "chunks", "postings", "retired")
    found: dict[str, sql.Composable] = {name: sql.Identifier(schema, name) for name in names}
    found["schema"] = sql.Identifier(schema)
    found["records"] = sql.Identifier(schema, "records")
    if rows is not None:
        found |= {name: sql.Literal(value) for name, value in rows._asdict().items()}
        found["vectors"] = sql.Identifier(schema, f"vectors_{rows.dimensions}")
    return found


def compose(
    schema: str,
    edition: Edition,
    template: LiteralString,
    rows: VersionRows | None = None,
    only: Restriction | None = None,
) -> sql.Composed:
    """Compose the query for a version, restricted to the chunks that a search may return."""
    tables, weights = tables_of(schema, rows), edition.weights
    passing: sql.Composable = sql.SQL("")
    if only is not None:
        condition = conditions_of(only, edition.keys)
        passing = sql.SQL(PASSING).format(condition=condition, **tables)
    return sql.SQL(template).format(
        **tables,
        version=sql.Literal(edition.version),
        needs_records=sql.Literal(edition.needs_records),
        named=sql.Literal(NAMED),
        k1=sql.Literal(weights.k1),
        b=sql.Literal(weights.b),
        rest=sql.Literal(1 - weights.b),
        passing=passing,
    )


def asked_vector(vector: QuantisedVector) -> dict[str, Any]:
    """Return the parameters of a vector query."""
    integers = ",".join(map(str, vector.integers.tolist()))
    return {"vector": f"[{integers}]", "scale": vector.scale}


def asked_terms(edition: Edition, terms: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return the parameters of a term query."""
    weights = [edition.weights[number] for number, _ in terms]
    return {
        "terms": [weight.key for weight in weights],
        "weights": [weight.weight for weight in weights],
        "headings": [weight.is_heading for weight in weights],
        "times": [float(times) for _, times in terms],
    }
