"""PostgreSQL with hash partitions, and with a streaming replica."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import psycopg
import pytest
from small_indexes import Note, write_notes
from stores import Place, own_name, running_postgres, running_replica
from waiting import wait_until

from foundry.config.search import IndexOptions
from foundry.errors import PublishError
from foundry.runtime.retrieval.quantising import quantise_one
from foundry.runtime.store.restriction import restrict
from foundry.runtime.store.store import VersionMissingError
from foundry.stores.content import Content

PAGE = Path(__file__).parent.parent / "docs" / "operating-engines.md"
OPTIONS = IndexOptions(keeps_counts=True)
WORDS = "valve pump seal rotor filter hose gauge motor spring bearing".split()
PARTS = 4


def write(folder: Path, edition: str) -> Path:
    """Write an index of sixty notes, of which every tenth belongs to an edition."""
    notes = []
    for number in range(60):
        first, second = (WORDS[(number * step + step) % 10] for step in (1, 3))
        said = edition if number % 10 == 0 else "usual"
        passages = (f"The {said} {first} and its {second}.", f"Replace {second} {number}.")
        notes.append(Note(f"Note on the {first}", passages, tags=("shop",) * (number % 3 == 0)))
    return write_notes(folder, notes, options=OPTIONS)


@pytest.fixture(scope="module")
def replica(postgres: str) -> Iterator[str]:
    with running_replica(postgres) as address:
        yield address


@pytest.fixture
def place(postgres: str) -> Place:
    return Place("pgvector", own_name(), postgres)


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("indexes")
    return write(folder / "first", "first"), write(folder / "second", "second")


def check_answers(place: Place, index: Path, *, exact: bool = True) -> None:
    """Check that a version's results equal those of its index, with a filter and without."""
    content = Content.open(index)
    tagged = np.arange(len(content.scales)) // 2 % 3 == 0
    words = ["first", "second", "valv"]
    found = [(content.vocabulary.find(word), 1) for word in words]
    terms = [(number, times) for number, times in found if number is not None]
    with place.engine(exact=exact) as engine:
        engine.check(content.edition)
        for chunk in range(0, len(content.scales), 7):
            vector = content.vectors[chunk] * content.scales[chunk]
            for allowed in (None, tagged):
                only = None if allowed is None else restrict(allowed, {"tags": ["shop"]})
                query = quantise_one(vector)
                both = engine.search_both(content.edition, query, terms, 10, only)
                for hits, best in (
                    (both.semantic, content.dense_lane.search(vector, 10, allowed)),
                    (both.keyword, content.keyword_lane.search(words, 10, allowed)),
                ):
                    assert hits.chunks.tolist() == best.chunks.tolist()
                    assert hits.scores.tolist() == best.scores.tolist()


def partition(place: Place) -> None:
    """Run the SQL from the documentation of engines."""
    (block,) = re.findall(r"(?ms)^```sql\n(DO .*?)^```$", PAGE.read_text(encoding="utf-8"))
    with psycopg.connect(place.address) as connection:
        connection.execute(block.replace("'handbook'", f"'{place.name}'"))


@pytest.mark.slow
def test_tables_can_be_partitioned_by_hash(place: Place, indexes: tuple[Path, Path]) -> None:
    first, second = indexes
    place.publish(first, exact=False)
    before = place.query("SELECT indexname FROM pg_indexes WHERE schemaname = '{}'")
    partition(place)
    for table in ("chunks", "vectors_256", "postings"):
        counts = [
            place.query(f"SELECT count(*) FROM {{}}.{table}_{part}")[0][0] for part in range(PARTS)
        ]
        assert min(counts) > 0
        assert sum(counts) == place.query(f"SELECT count(*) FROM {{}}.{table}")[0][0]
    assert place.query(f"SELECT to_regclass('{place.name}.chunks_{PARTS}')") == [(None,)]
    # Publications create the same database indexes as before, and none twice.
    whole = "SELECT relname FROM pg_class WHERE relkind = 'I' AND relnamespace = '{}'::regnamespace"
    partitioned = {name for (name,) in place.query(whole)}
    assert partitioned <= {name for (name,) in before}
    assert {"chunks_row", "postings_term", "graph_256", "vectors_256_row"} <= partitioned
    check_answers(place, first)
    place.publish(second, exact=False)
    assert {name for (name,) in place.query(whole)} == partitioned
    for index in indexes:
        check_answers(place, index)
    # Each edition differs by six passages, which are added to those of the first.
    assert place.query("SELECT count(*) FROM {}.chunks") == [(126,)]
    place.publish(second, exact=False, grace=0)
    assert place.query("SELECT count(*) FROM {}.chunks") == [(120,)]
    check_answers(place, second)
    asking = place.preferring_graphs()
    check_answers(asking, second, exact=False)
    used = (
        "SELECT min(idx_scan), count(*) FROM pg_stat_user_indexes"
        " WHERE schemaname = '{}' AND relname ~ '^vectors_256_' AND indexrelname ~ 'vector_idx'"
    )
    wait_until(lambda: (place.query(used)[0][0] or 0) > 0)
    assert place.query(used)[0][1] == PARTS


def test_a_graph_with_other_options_is_kept(place: Place, indexes: tuple[Path, Path]) -> None:
    place.publish(indexes[0], exact=False)
    (block,) = re.findall(r"(?ms)^```sql\n(DROP INDEX .*?)^```$", PAGE.read_text(encoding="utf-8"))
    place.query(block.replace("handbook", "{0}"))
    place.publish(indexes[1], exact=False)
    graphs = (
        "SELECT relname, reloptions FROM pg_class WHERE relname ~ 'graph|vector_idx'"
        " AND relkind = 'i' AND relnamespace = '{}'::regnamespace"
    )
    assert place.query(graphs) == [("graph_256", ["m=32", "ef_construction=128"])]


def wait_for_replica(place: Place, follower: Place) -> None:
    """Wait until the replica has everything that has been written."""
    ((written,),) = place.query("SELECT pg_current_wal_lsn()")
    there = f"SELECT pg_last_wal_replay_lsn() >= '{written}'"
    wait_until(lambda: follower.query(there) == [(True,)])


def test_a_replica_answers_searches(place: Place, replica: str, indexes: tuple[Path, Path]) -> None:
    first, second = indexes
    follower = Place("pgvector", place.name, replica)
    place.publish(first, exact=False)
    wait_for_replica(place, follower)
    check_answers(follower, first)
    # A replica that is one publication behind continues with its version.
    follower.query("SELECT pg_wal_replay_pause()")
    try:
        place.publish(second, exact=False)
        check_answers(follower, first)
        with follower.engine() as engine, pytest.raises(VersionMissingError):
            engine.check(Content.open(second).edition)
    finally:
        follower.query("SELECT pg_wal_replay_resume()")
    wait_for_replica(place, follower)
    for index in indexes:
        check_answers(follower, index)
    # The role exists on the replica too.
    place.preferring_graphs()
    wait_for_replica(place, follower)
    asking = Place("pgvector", place.name, replica.replace("postgres:@", f"{place.name}:@"))
    check_answers(asking, second, exact=False)
    wait_until(lambda: follower.has_used_graph())


def test_a_replica_refuses_publications(
    place: Place, replica: str, indexes: tuple[Path, Path]
) -> None:
    with pytest.raises(PublishError, match="the published version is unchanged") as error:
        Place("pgvector", place.name, replica).publish(indexes[0])
    assert error.value.hint == "publish to the primary: this server is a read-only replica"


@pytest.mark.slow
def test_searches_continue_while_the_primary_is_down(
    indexes: tuple[Path, Path],
) -> None:
    content = Content.open(indexes[0])
    with ExitStack() as stack:
        leader = Place("pgvector", own_name(), stack.enter_context(running_postgres()))
        leader.publish(indexes[0])
        with running_replica(leader.address) as address:
            follower = Place("pgvector", leader.name, address)
            wait_for_replica(leader, follower)
            folders = [
                parse_qs(urlsplit(one.address).query)["host"][0] for one in (leader, follower)
            ]
            hosts = f"host={','.join(folders)}&load_balance_hosts=random"
            both = Place("pgvector", leader.name, f"postgresql://postgres@/postgres?{hosts}")
            asked = [both.query("SELECT pg_is_in_recovery()") for _ in range(50)]
            assert sorted({is_following for ((is_following,),) in asked}) == [False, True]
            with both.engine() as engine:
                engine.check(content.edition)
                stack.close()
                for number in range(5):
                    assert len(engine.search_terms(content.edition, [(number, 1)], 5, None))
                engine.check(content.edition)
            check_answers(both, indexes[0])
