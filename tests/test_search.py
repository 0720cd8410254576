"""Properties of every search, over random corpora, options and queries."""

import math
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from conftest import CONFIG, MakeProject
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_indexes import imported, write_documents

from foundry.config.project import load_config
from foundry.documents import Chunk, Document, Reading
from foundry.features.providers import PROVIDERS
from foundry.files import write_files
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_server
from foundry.runtime.index.tokens import MAX_QUERY_TERMS

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FUSIONS = ("linear", "rrf")


def make_documents(texts: list[tuple[str, str]]) -> list[tuple[Document, list[Chunk]]]:
    """Return a document with one chunk for each title and text."""
    made = []
    for number, (title, text) in enumerate(texts):
        document = Document(
            id=f"d{number}",
            source=f"s{number % 2}",
            path=f"{number}.txt",
            url=None,
            title=title,
            media_type="text/plain",
            reader="text/1",
            sha256="",
            bytes=len(text),
            replaced=0,
            tags=("even",) if number % 2 == 0 else ("odd", "third"),
            modified=None if number % 3 == 0 else f"2024-01-{1 + number % 28:02d}",
            metadata={},
            reading=Reading(text=text),
        )
        # Ids are not in the order of the chunks, so that ties show which of the two decides.
        chunk_id = f"c{(number * 7919) % 10007:05d}"
        made.append((document, [Chunk(chunk_id, document.id, text, (title,), 0, len(text), 1, 1)]))
    return made


def write_index(folder: Path, texts: list[tuple[str, str]], provider: str = "static") -> Path:
    """Write an index of these documents."""
    return write_documents(folder, make_documents(texts), vectors=provider == "static")


@pytest.fixture(scope="module", params=[*FUSIONS, "none"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModuleType]:
    """A rendered server package for each composition of search.py."""
    root = tmp_path_factory.mktemp("server")
    package = f"server_{request.param}"
    options = (
        '[embedding]\nprovider = "none"\n'
        if request.param == "none"
        else f'[search]\nfusion = "{request.param}"\n'
    )
    (root / "sources").mkdir()
    (root / "foundry.toml").write_text(
        f'[project]\nname = "notes"\n[[sources]]\ntype = "folder"\npath = "sources"\n{options}'
        f'[export]\npackage = "{package}"\n'
    )
    encoder = PROVIDERS["none" if request.param == "none" else "static"]
    files = plan_server(Design.of(load_config(root), encoder), None, with_tests=False)
    write_files(root / "server", files)
    with imported(root / "server", package) as module:
        yield module


vocabulary = st.sampled_from(
    "mine safety rule D40 D41 75.1725 aboleth lantern bell the of max_size ventilation water gas"
    " 日本語 émigré".split()
)
passages = st.lists(vocabulary, min_size=1, max_size=12).map(" ".join)
titles = st.lists(vocabulary, min_size=1, max_size=3).map(" ".join)
corpora = st.lists(st.tuples(titles, passages), min_size=1, max_size=25)
queries = st.one_of(passages, titles, st.text(min_size=1, max_size=40).filter(str.strip))
filters = st.sampled_from(
    [
        None,
        {"source": "s0"},
        {"tags": ["odd", "third"]},
        {"tags": "absent"},
        {"modified_after": "2024-01-05"},
        {"modified_before": "2024-01-05", "source": ["s1"]},
    ]
)


def passes(chunk: object, wanted: dict[str, object] | None) -> bool:
    """Return whether a chunk passes all filters, without the server's code."""
    for name, value in (wanted or {}).items():
        values = [value] if isinstance(value, str) else value
        assert isinstance(values, list)
        if name == "source" and chunk.source not in values:  # type: ignore[attr-defined]
            return False
        if name == "tags" and not set(values) <= set(chunk.tags):  # type: ignore[attr-defined]
            return False
        modified = chunk.modified  # type: ignore[attr-defined]
        if name == "modified_after" and (modified is None or modified < values[0]):
            return False
        if name == "modified_before" and (modified is None or modified >= values[0]):
            return False
    return True


@settings(
    max_examples=13,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    corpus=corpora,
    query=queries,
    top_k=st.integers(1, 12),
    mode=st.sampled_from(["hybrid", "semantic", "keyword"]),
    wanted=filters,
)
def test_invariants(
    server: ModuleType,
    tmp_path_factory: pytest.TempPathFactory,
    corpus: list[tuple[str, str]],
    query: str,
    top_k: int,
    mode: str,
    wanted: dict[str, object] | None,
) -> None:
    provider = "none" if server.__name__ == "server_none" else "static"
    options = {"filters": wanted} | ({} if provider == "none" else {"mode": mode})
    index = server.load(write_index(tmp_path_factory.mktemp("index") / "v", corpus, provider))
    response = server.search_hybrid(query, top_k, **options)

    hits = response.hits
    scores = [hit.score for hit in hits]
    assert len(hits) <= top_k
    assert all(0 <= score <= 1 and math.isfinite(score) for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert len({hit.id for hit in hits}) == len(hits)
    assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, int(hit.document_id[1:])))
    assert all(passes(hit, wanted) for hit in hits)
    for hit in hits:
        for lane in hit.scores.to_json().values():
            assert lane is None or 0 <= lane <= 1
        # A hit that represents equal ones lists their places too.
        stored = index.find_chunk(hit.id).to_json() | {"also_at": hit.to_json()["also_at"]}
        assert stored.items() <= hit.to_json().items()

    again = server.search_hybrid(query, top_k, **options)
    assert again.to_json() | {"took_ms": 0} == response.to_json() | {"took_ms": 0}
    deeper = server.search_hybrid(query, 100, **options)
    if server.__name__ != "server_rrf" or response.mode != "hybrid":
        by_id = {hit.id: hit.score for hit in deeper.hits}
        assert all(by_id[hit.id] == hit.score for hit in hits)
        assert [hit.id for hit in hits] == [hit.id for hit in deeper.hits][: len(hits)]


def test_linear_scores_are_what_the_lanes_say(tmp_path: Path, make_project: MakeProject) -> None:
    project = make_project(
        {
            "a.md": "# Ventilation\n\nFans move air through the mine.\n",
            "b.md": "# Lanterns\n\nLamps are checked before each shift in the mine.\n",
        }
    )
    project.succeed("build")
    answer = project.ask("how does air get into the mine")
    assert answer["mode"] == "hybrid"
    for result in answer["results"]:
        lanes = result["scores"]
        assert result["score"] == pytest.approx(
            0.7 * lanes["semantic"] + 0.3 * lanes["keyword"], abs=2e-6
        )
    assert max(result["scores"]["keyword"] for result in answer["results"]) == 1.0


def test_an_identifier_is_answered_by_keywords_alone(make_project: MakeProject) -> None:
    project = make_project(
        {
            "d40.md": "# Region D40\n\nA hall with a bell.\n",
            "log.md": "# Log\n\nD40, D40 and again D40: we left D40 for D40.\n",
            "d41.md": "# Region D41\n\nA room with ropes.\n",
        }
    )
    project.succeed("build")
    answer = project.ask("D40")
    assert (answer["mode"], answer["reason"], answer["degraded"]) == (
        "keyword",
        "identifier",
        False,
    )
    first = answer["results"][0]
    assert first["path"] == "d40.md"
    assert first["scores"] == {"semantic": None, "keyword": 1.0}
    assert "d41.md" not in {result["path"] for result in answer["results"]}
    assert project.ask("Tell me about D40")["results"][0]["path"] == "d40.md"
    # No chunk has this identifier, so only its meaning can match.
    assert project.ask("Z99")["mode"] == "hybrid"


@pytest.mark.parametrize("fusion", FUSIONS)
def test_an_identifier_is_not_found_by_its_parts(make_project: MakeProject, fusion: str) -> None:
    project = make_project(
        {
            "one.md": "# Incident CVE-2024-3095\n\nLoss of records.\n",
            "two.md": "# Incident CVE-2024-4017\n\nLoss of keys in 2024.\n",
            "three.md": "# Lunch\n\nSoup and bread.\n",
        },
        config=f'{CONFIG}[search]\nfusion = "{fusion}"\n',
    )
    project.succeed("build")
    known = project.ask("cve_2024_3095")
    assert (known["mode"], known["reason"], known["unknown_identifiers"]) == (
        "keyword",
        "identifier",
        [],
    )
    assert known["results"][0]["score"] == 1
    for query in ("CVE-2024-0000", "CVE-2024-9 CVE-2024-3095"):
        for mode in ("hybrid", "keyword", "semantic"):
            answer = project.ask(query, "--mode", mode)
            assert (answer["mode"], answer["unknown_identifiers"]) == (mode, [query.split()[0]])
            assert answer["reason"] == ("default" if mode == "hybrid" else "requested")
            assert all(result["score"] < 1 for result in answer["results"])
    # The identifier is known, but the documents that pass the filter have only its parts.
    filtered = project.ask("CVE-2024-3095", "--filter", "path=two.md")
    assert (filtered["mode"], filtered["unknown_identifiers"]) == ("hybrid", [])


def test_a_query_that_cannot_be_embedded_is_answered_by_keywords(
    make_project: MakeProject,
) -> None:
    project = make_project({"a.txt": "東京都の天気予報です。", "b.txt": "大阪の食べ物。"})
    project.succeed("build")
    answer = project.ask("天気予報")
    assert (answer["mode"], answer["reason"], answer["degraded"]) == ("keyword", "no_vectors", True)
    assert answer["results"][0]["path"] == "a.txt"


def test_a_long_query_is_searched_for_by_its_beginning(server: ModuleType, tmp_path: Path) -> None:
    words = [f"q{first}{second}q" for first in "bcdfghjkm" for second in "bcdfghjkm"]
    words = words[: MAX_QUERY_TERMS + 1]
    provider = "none" if server.__name__ == "server_none" else "static"
    texts = [("First", words[0]), ("Last", words[-1])]
    server.load(write_index(tmp_path / "v", texts, provider))
    options = {} if provider == "none" else {"mode": "keyword"}
    within = server.search_hybrid(" ".join(words[:-1]), **options)
    assert [hit.title for hit in within.hits] == ["First"]
    assert "query_length" not in within.stages
    query = " ".join(words)
    beyond = server.search_hybrid(query, **options)
    assert [hit.score for hit in beyond.hits] == [hit.score for hit in within.hits]
    assert beyond.query == query
    assert beyond.stages["query_length"]["searched"].split() == words[:-1]


def test_a_requested_mode_is_used(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# Pumps\n\nPumps keep the sump dry.\n"})
    project.succeed("build")
    for mode in ("semantic", "keyword"):
        answer = project.ask("pumps", "--mode", mode)
        assert (answer["mode"], answer["reason"]) == (mode, "requested")


def test_operators_that_are_off_are_said(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# Seals\n\nThe seal ring of the pump.\n"})
    project.succeed("build")
    query = '"seal ring" pump'
    notice = 'Operators are disabled: "seal ring" was searched for as plain words.'
    assert project.ask(query)["stages"] == {"operators": {"notice": notice}}
    assert notice in project.succeed("query", query).stdout
    assert project.ask("seal ring")["stages"] == {}
