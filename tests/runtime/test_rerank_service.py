"""Reranking by a service: the three formats, and invalid replies."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import CONFIG, MakeProject
from rerank_services import Kind, fake_reranker

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.retrieval import circuit_breaker
from foundry.runtime.retrieval.stages.rerank import FAILED, LATE, Reranker
from foundry.runtime.retrieval.stages.rerank_service import (
    MAX_REPLY_BYTES,
    ReplyError,
    RerankService,
    ServiceSettings,
)

pytestmark = pytest.mark.usefixtures("forked_servers")

QUERY = "fans move air"
PASSAGES = ["Lamps.", "Fans move air.", "Air is measured."]
KINDS: list[Kind] = ["cohere", "jina", "tei"]
KEY = "sk-0123456789"


def client(base_url: str, kind: str = "cohere", key: str | None = KEY) -> RerankService:
    return RerankService(ServiceSettings(kind, base_url, "some-model"), key)


@pytest.mark.parametrize("kind", KINDS)
def test_passages_get_their_scores_whatever_the_order_of_the_reply(kind: Kind) -> None:
    with fake_reranker(kind) as service:
        scores = client(service.base_url, kind).score(QUERY, PASSAGES)
        assert scores.tolist() == pytest.approx([0, 1, 1 / 3])
        assert service.keys == [f"Bearer {KEY}"]
        (body,) = service.requests
    expected: dict[Kind, dict[str, Any]] = {
        "cohere": {"model": "some-model", "documents": PASSAGES},
        "jina": {"model": "some-model", "documents": PASSAGES, "return_documents": False},
        "tei": {"texts": PASSAGES, "truncate": True},
    }
    assert body == {"query": QUERY, **expected[kind]}


def test_scores_beyond_the_range_are_clipped() -> None:
    reply = {"results": [{"index": n, "relevance_score": s} for n, s in enumerate([-3, 0.5, 7])]}
    with fake_reranker("jina", change=lambda _: reply) as service:
        assert client(service.base_url, "jina").score(QUERY, PASSAGES).tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>Sign in</html>",
        b"",
        b"[" * 100_000,
        b'{"results": "' + b"x" * MAX_REPLY_BYTES + b'"}',
        [],
        {"results": None},
        {"results": [{"index": 0, "relevance_score": 0.5}]},
        {"results": [{"index": n, "relevance_score": 0.5} for n in (0, 1, 3)]},
        {"results": [{"index": n, "relevance_score": 0.5} for n in (0, 1, -1)]},
        {"results": [{"index": n, "relevance_score": 0.5} for n in (0, 1, True)]},
        {"results": [{"index": n, "relevance_score": "high"} for n in range(3)]},
        {"results": [{"index": n, "relevance_score": float("nan")} for n in range(3)]},
        {"results": [{"index": n, "score": 0.5} for n in range(3)]},
    ],
)
def test_replies_without_a_score_for_each_passage_are_refused(reply: Any) -> None:
    with fake_reranker("cohere", change=lambda _: reply) as service, pytest.raises(ReplyError):
        client(service.base_url).score(QUERY, PASSAGES)


@pytest.mark.parametrize("status", [302, 307, 400, 401, 413, 429, 500, 503])
def test_refusals_are_reported_by_status_and_redirects_are_not_followed(status: int) -> None:
    with fake_reranker("cohere", status=status) as service:
        with pytest.raises(ReplyError, match=f"^the service answered {status}$"):
            client(service.base_url).score(QUERY, PASSAGES)
        assert len(service.requests) == 1


@pytest.mark.parametrize(
    "key", ["two words", "line\nend", "schl\N{LATIN SMALL LETTER U WITH DIAERESIS}ssel"]
)
def test_a_key_that_is_invalid_in_a_header_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ConfigurationError, match="RERANK_API_KEY") as info:
        client("http://127.0.0.1:1", key=key)
    assert key not in f"{info.value.message}{info.value.hint}"


def test_a_slow_service_times_out_and_a_missing_one_is_not_called_for_a_while(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(circuit_breaker, "FIRST_PAUSE", 600.0)
    let_go = threading.Event()

    def hold(reply: Any) -> Any:
        let_go.wait(600)
        return reply

    with fake_reranker("cohere", change=hold) as service:
        slow = Reranker(lambda: client(service.base_url), at_once=2)
        assert slow.score(QUERY, PASSAGES, seconds=0.05) == LATE
        assert slow.score(QUERY, PASSAGES, seconds=60) == LATE
        assert len(service.requests) <= 1
        let_go.set()
    away = Reranker(lambda: client(service.base_url))
    assert away.score(QUERY, PASSAGES, seconds=60) == FAILED
    assert KEY not in caplog.text


def test_calls_are_made_concurrently() -> None:
    both = threading.Barrier(2)

    def meet(reply: Any) -> Any:
        both.wait(60)
        return reply

    with fake_reranker("cohere", change=meet) as service:
        model = Reranker(lambda: client(service.base_url), at_once=2)
        found: list[object] = []
        threads = [
            threading.Thread(target=lambda: found.append(model.score(QUERY, PASSAGES, seconds=100)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not any(isinstance(each, str) for each in found)


def test_the_address_can_be_changed_by_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    chosen = {"service": "tei", "base_url": "http://a.example/", "model": ""}
    file.write_text(json.dumps({"rerank_service": chosen}))
    assert ServiceSettings.read(file) == ServiceSettings("tei", "http://a.example", "")
    monkeypatch.setenv("RERANK_BASE_URL", "http://b.example:8080/x/")
    assert ServiceSettings.read(file).base_url == "http://b.example:8080/x"
    monkeypatch.setenv("RERANK_BASE_URL", "ftp://b.example")
    with pytest.raises(ConfigurationError, match="RERANK_BASE_URL"):
        ServiceSettings.read(file)


def test_a_project_is_searched_and_evaluated_with_it(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RERANK_API_KEY", KEY)
    files = {
        "fans.md": "# Fans\n\nFans. Fans! Fans? Fans move little.\n",
        "air.md": "# Ventilation\n\nWhat makes fans move air is a motor.\n",
    }
    questions = '{"query": "what makes fans move air", "relevant": ["air.md"]}\n'
    with fake_reranker("tei") as service:
        config = (
            f'{CONFIG}\n[search.rerank_service]\nservice = "tei"\nbase_url = "{service.base_url}"\n'
            "deadline_ms = 20000\n"
        )
        project = make_project(files, config=config)
        (project.root / "questions.jsonl").write_text(questions)
        project.succeed("build", "--quiet")
        answer = project.ask("what makes fans move air")
        assert answer["stages"]["rerank"] == {"hits": 2}
        assert [hit["path"] for hit in answer["results"]] == ["air.md", "fans.md"]
        assert answer["results"][0]["scores"]["rerank"] == answer["results"][0]["score"] == 1
        service.status = 503
        assert project.ask("what makes fans move air")["stages"]["rerank"] == {"failed": FAILED}
        service.status = 200
        report = json.loads(project.succeed("eval", "--json", "--quiet").stdout)
        assert report["metrics"]["linear"]["hit@1"] == 1


def test_invalid_tables_are_refused(make_project: MakeProject) -> None:
    tables = {
        'service = "cohere"': "model: cohere needs the name of a model",
        'service = "tei"': "base_url: is required",
        'service = "tei"\nbase_url = "http://h"\nmodel = "m"': "model: a TEI server has one model",
        'service = "jina"\nmodel = "m"\nbase_url = "jina"': "base_url: write an address",
        'service = "cohere"\nmodel = "m"\n[search.rerank]\nmodel = "m"': "remove one of them",
    }
    for number, (table, said) in enumerate(tables.items()):
        config = f"{CONFIG}\n[search.rerank_service]\n{table}\n"
        project = make_project({"a.md": "a"}, config=config, name=f"p{number}")
        result = project.run("build")
        assert result.exit_code == 2
        assert said in result.stderr
