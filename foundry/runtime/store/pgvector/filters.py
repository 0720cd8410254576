"""Filters as SQL conditions on the columns of chunks."""

from collections.abc import Iterator, Sequence

from psycopg import sql

from ...retrieval.filters import parse_time
from ...retrieval.values import AFTER_ALL, encode_value
from ..restriction import Restriction
from ..rows import ChunkKeys

# Most chunks have one path, and unnesting an array takes ten times as long.
_PREFIX = (
    "CASE WHEN cardinality(paths) = 1 THEN {alone} ELSE EXISTS (SELECT FROM unnest(paths) AS path"
    " JOIN unnest({beginnings}::bytea[]) AS beginning"
    " ON substr(path, 1, length(beginning)) = beginning) END"
)


def conditions_of(only: Restriction, keys: ChunkKeys) -> sql.Composed:
    """Return the condition for rows of chunks that a search may return."""
    conditions: list[sql.Composable] = [*_passing(only)]
    if only.is_picked:
        chunks, is_excluded = only.listed()
        is_other = "key <> ALL({}::bigint[])" if is_excluded else "key = ANY({}::bigint[])"
        conditions.append(sql.SQL(is_other).format(sql.Literal(keys.by_number[chunks].tolist())))
    return sql.SQL(" AND ").join(conditions or [sql.SQL("true")])


def _passing(only: Restriction) -> Iterator[sql.Composed]:
    """Yield a condition for each filter."""
    for name, asked in only.filters.items():
        if not asked:
            continue
        if name in ("modified_after", "modified_before"):
            is_after = name == "modified_after"
            condition = sql.SQL("modified >= {}" if is_after else "modified < {}")
            yield condition.format(sql.Literal(parse_time(asked[0])))
            continue
        marks = sorted(encode_value(name, value) for value in asked)
        if name == "path":
            yield _prefix_condition(_shortest(marks))
        else:
            has_all = name == "tags"
            condition = sql.SQL("marks @> {}::bytea[]" if has_all else "marks && {}::bytea[]")
            yield condition.format(sql.Literal(marks))


def _prefix_condition(beginnings: list[bytes]) -> sql.Composed:
    """Return the condition that a path has one of these prefixes."""
    ranges = (
        sql.SQL("(paths[1] >= {}::bytea AND paths[1] < {}::bytea)").format(
            sql.Literal(beginning), sql.Literal(beginning + AFTER_ALL)
        )
        for beginning in beginnings
    )
    alone = sql.SQL("(") + sql.SQL(" OR ").join(ranges) + sql.SQL(")")
    return sql.SQL(_PREFIX).format(alone=alone, beginnings=sql.Literal(beginnings))


def _shortest(beginnings: Sequence[bytes]) -> list[bytes]:
    """Return the sorted prefixes, without those that a shorter one covers."""
    kept: list[bytes] = []
    for beginning in beginnings:
        if not kept or not beginning.startswith(kept[-1]):
            kept.append(beginning)
    return kept
