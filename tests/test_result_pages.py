"""Pages of results, by passage and by document, are parts of one list, whatever their size."""

import importlib
import json
import random
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_indexes import Note, client_of, rendered_server, write_notes

COMPOSITIONS = {
    "hybrid": "",
    "keywords": '[embedding]\nprovider = "none"\n',
    "merging": "[search.near_duplicates]\n[search.document_cap]\nhits = 2\n",
}
WORDS = "pump seal valve motor filter hose tank gauge fan belt lamp fuse".split()
MODES = ("hybrid", "semantic", "keyword")
LISTED = 150
"""More results than the depth to which lanes are read for a first page."""


def make_notes() -> list[Note]:
    """Return documents whose passages share many or few words, so that some scores tie."""
    chooser = random.Random(7)
    return [
        Note(
            f"Note {number}",
            tuple(
                f"Passage {number} {place}: " + " ".join(chooser.choices(WORDS, k=9))
                for place in range(chooser.randint(1, 6))
            ),
        )
        for number in range(250)
    ]


@pytest.fixture(scope="module", params=COMPOSITIONS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModuleType]:
    root, name = tmp_path_factory.mktemp("server"), request.param
    folder = write_notes(root / "index", make_notes(), vectors=name != "keywords")
    with rendered_server(root / "project", f"pages_{name}", COMPOSITIONS[name]) as package:
        package.load(folder)
        yield package


def pages(server: ModuleType, query: str, size: int, listed: int, **options: Any) -> list[Any]:
    """Return the first `listed` results, requested in pages of `size`."""
    found: list[Any] = []
    for offset in range(0, listed, size):
        wanted = min(size, listed - offset)
        hits = server.search_hybrid(query, wanted, offset=offset, **options).hits
        assert len(hits) <= wanted
        found += hits
    return found


def without_ranks(hit: dict[str, Any]) -> dict[str, Any]:
    """Return a hit without ranks, which depend on how far lanes were read."""
    more = [without_ranks(one) for one in hit.get("more", [])]
    return {**hit, "more": more, "ranks": None}


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    st.sampled_from(MODES),
    st.sampled_from([None, "document"]),
    st.integers(7, 100),
)
def test_pages_of_any_size_make_the_same_list(
    server: ModuleType, query: str, mode: str, group: str | None, size: int
) -> None:
    asked = {"mode": mode, "group": group}
    listed, others = (
        [without_ranks(hit.to_json()) for hit in pages(server, query, count, LISTED, **asked)]
        for count in (size, 50)
    )
    assert listed == others
    ids = [hit["document_id" if group else "id"] for hit in listed]
    assert len(ids) == len({*ids})


@pytest.mark.parametrize("mode", MODES)
def test_a_document_ranks_by_its_best_passage(server: ModuleType, mode: str) -> None:
    passages = pages(server, "pump seal", 100, 1_000, mode=mode)
    documents = pages(server, "pump seal", 20, 60, mode=mode, group="document")
    best = {hit.document_id: hit for hit in reversed(passages)}
    order = [*dict.fromkeys(hit.document_id for hit in passages)]
    assert [hit.document_id for hit in documents] == order[:60]
    assert all(hit.id == best[hit.document_id].id for hit in documents)
    own: dict[str, list[str]] = {}
    for hit in passages:
        own.setdefault(hit.document_id, []).append(hit.id)
    assert any(hit.more for hit in documents)
    for hit in documents:
        more = [one.id for one in hit.more]
        assert all(hit.score >= one.score >= hit.score / 2 for one in hit.more)
        assert {one.document_id for one in hit.more} <= {hit.document_id}
        # Results may include one that stages leave out of the list of passages.
        listed = own[hit.document_id][1:3]
        assert [name for name in more if name in listed] == [
            name for name in listed if name in more
        ]


def test_a_page_beyond_the_last_result_is_empty_and_offsets_are_limited(server: ModuleType) -> None:
    response = server.search_hybrid("pump", 10, offset=990)
    assert response.hits == ()
    for offset, top_k in ((-1, 10), (991, 10), (901, 100)):
        with pytest.raises(Exception, match=r"offset \+ top_k at most 1000"):
            server.search_hybrid("pump", top_k, offset=offset)
    with pytest.raises(Exception, match="group must be document or absent"):
        server.search_hybrid("pump", group="passage")


def test_http_accepts_the_same_options_in_body_and_url(server: ModuleType) -> None:
    client = client_of(server)
    asked: dict[str, Any] = {"top_k": 3, "offset": 2, "group": "document"}
    body = client.post("/search", json={"query": "pump", **asked}).json()
    address = client.get("/search", params={"q": "pump", **asked}).json()
    hits = server.search_hybrid("pump", 3, offset=2, group="document").hits
    for found in (body, address):
        assert [hit["id"] for hit in found["results"]] == [hit.id for hit in hits]
        more = [[one["id"] for one in hit.get("more", [])] for hit in found["results"]]
        assert more == [[one.id for one in hit.more] for hit in hits]
        assert all("snippet" in one for hit in found["results"] for one in hit.get("more", []))
    for wrong in ({"offset": -1}, {"offset": 1_000}, {"offset": "1"}, {"group": "passage"}):
        assert client.post("/search", json={"query": "pump", **wrong}).status_code == 422


def test_terminal_shows_a_document_once(
    server: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = importlib.import_module(f"{server.__name__}.__main__")

    def say(*arguments: str) -> str:
        monkeypatch.setattr("sys.argv", ["notes", "search", "pump seal", *arguments])
        assert command.main() == 0
        return capsys.readouterr().out

    hits = server.search_hybrid("pump seal", 3, offset=4, group="document").hits
    said = say("--top-k", "3", "--offset", "4")
    for number, hit in enumerate(hits, 5):
        assert f"\n{number:3}. {hit.score:.3f}  {hit.title}" in f"\n{said}"
    assert said.count("     - ") == sum(len(hit.more) for hit in hits)
    passages = server.search_hybrid("pump seal", 3).hits
    assert [one.id for one in passages] == [
        one["id"] for one in json.loads(say("--top-k", "3", "--json"))["results"]
    ]
    assert "     - " not in say("--top-k", "3", "--group", "passage")
