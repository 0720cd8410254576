"""The cache of answers in a server that has chosen it: nothing tells it from one that has not."""

import importlib
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import CONFIG, MakeProject, Project
from small_indexes import client_of, imported
from starlette.testclient import TestClient

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

WORDS = "pump seal valve stem oil gasket filter D40".split()
CHOSEN = "answer_cache = true\nsorting = true\nquestion_log = true\n"
CONFIGURATION = f"{CONFIG}\n[search.facets]\n[search.near_duplicates]\n[server]\n"


def documents() -> dict[str, str]:
    drawn = random.Random(7)
    return {
        f"{number}.md": f"---\ntags: [{'ab'[number % 2]}]\nmodified: 2024-01-{number + 1:02}\n---\n"
        f"# {drawn.choice(WORDS).title()} {number}\n\n"
        + " ".join(drawn.choices(WORDS, k=40))
        + f".\n\n```\n{drawn.choice(WORDS)} = {number}\n```\n"
        for number in range(12)
    }


@contextmanager
def served(folder: Path) -> Iterator[tuple[ModuleType, TestClient]]:
    """The package of an export, and a client of its application."""
    with imported(folder, "notes") as package, client_of(package) as client:
        yield package, client


def recalled(client: TestClient) -> int:
    """Return how many answers came from memory."""
    told = re.search(
        r'search_stage_seconds_count\{stage="answer_cache"\} (\d+)', client.get("/metrics").text
    )
    return int(told[1]) if told else 0


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    made = make_project(documents(), config=CONFIGURATION + CHOSEN)
    made.succeed("build", "--quiet")
    return made


def test_random_requests_have_the_answers_of_a_server_without_it(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("QUESTION_LOG", str(tmp_path / "questions.jsonl"))
    drawn = random.Random(11)
    requests = []
    for _ in range(120):
        parameters: dict[str, Any] = {"q": " ".join(drawn.choices(WORDS, k=drawn.randint(1, 2)))}
        for name, values in (
            ("top_k", (1, 3)),
            ("mode", ("keyword", "semantic")),
            ("tag", ("a", "b")),
            ("snippets", ("false",)),
            ("sort", ("date",)),
            ("facets", ("true",)),
        ):
            if drawn.random() < 0.3:
                parameters[name] = drawn.choice(values)
        requests.append(parameters)
    requests += drawn.sample(requests, 60)

    def answers(folder: Path) -> tuple[list[dict[str, Any]], int, str]:
        with served(folder) as (_, client):
            replies = [client.get("/search", params=each) for each in requests]
            assert {reply.status_code for reply in replies} == {200}
            found = [{**reply.json(), "took_ms": 0} for reply in replies]
            return found, recalled(client), client.get("/metrics").text

    kept, count, metrics = answers(project.export())
    # As many as are asked again, in whichever form they are wanted.
    searched = [{**each, "snippets": "", "sort": ""} for each in requests]
    assert count == len(searched) - len({repr(sorted(each.items())) for each in searched}) > 60
    told = {line for line in metrics.splitlines() if line.startswith("searches_total{")}
    assert sum(float(line.rpartition(" ")[2]) for line in told) == len(requests)
    (project.root / "foundry.toml").write_text(
        CONFIGURATION + CHOSEN.replace("answer_cache = true\n", "")
    )
    folder = project.export("--force")
    assert not (folder / "notes/web/answer_cache.py").exists()
    found, count, _ = answers(folder)
    assert (kept, count) == (found, 0)
    assert any(hit.get("snippet") for answer in kept for hit in answer["results"])


def test_a_new_index_has_new_answers(project: Project) -> None:
    folder = project.export()
    with served(folder) as (package, client):
        for _ in range(2):
            assert client.get("/search?q=caribou").json()["match"] == "none"
        assert recalled(client) == 1
        (project.root / "sources/caribou.md").write_text("# Caribou\n\nA caribou eats lichen.")
        project.succeed("build", "--quiet")
        package.load(project.root / ".foundry/index")
        for count in (1, 2):
            first, *_ = client.get("/search?q=caribou").json()["results"]
            assert first["title"] == "Caribou"
            assert recalled(client) == count


def test_hooks_and_the_log_of_questions_are_told_each_time(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "questions.jsonl"
    monkeypatch.setenv("QUESTION_LOG", str(log))
    folder = project.export()
    with imported(folder, "notes") as package:
        hooks = importlib.import_module("notes.retrieval.hooks")
        custom: Any = importlib.import_module("notes.custom")
        asked: list[str] = []

        def before(request: Any) -> Any:
            asked.append(request.query)
            return replace(request, query="seal")

        def after(_: Any, response: Any) -> Any:
            hits = [replace(hit, text=f"seal {len(asked)} {hit.text}") for hit in response.hits]
            return replace(response, match="none", hits=tuple(hits))

        custom.HOOKS = hooks.Hooks(before_search=before, after_search=after)
        vars(importlib.import_module("notes.web.questions"))["TYPING_SECONDS"] = 0.0
        with client_of(package) as client:
            for number in (1, 2, 3):
                found = client.get("/search?q=where").json()
                for hit in found["results"]:
                    assert hit["text"].startswith(f"seal {number} ")
                    assert hit["snippet"].startswith(f"seal {number} ")
            assert recalled(client) == 2
            # A thread writes the lines.
            lines: list[str] = []
            while len(lines) < 3:
                lines = log.read_text("ascii").splitlines() if log.exists() else []
        assert asked == ["where"] * 3
        assert [re.findall('"query":"(.*?)"', line) for line in lines] == [["where"]] * 3


def test_nobody_is_given_what_others_may_see(make_project: MakeProject) -> None:
    tokens = {"all": "a" * 40, "b": "b" * 40, "none": "n" * 40}
    rules = (
        'access = true\naccess_default = "nothing"\n'
        '[[server.access_rules]]\nname = "all"\nfilters = {}\n'
        '[[server.access_rules]]\nname = "b"\nfilters = { tags = "b" }\n'
        '[build]\nduplicates = "keep"\n'
    )
    project = make_project(documents(), config=f"{CONFIG}\n[server]\nanswer_cache = true\n{rules}")
    project.succeed("build", "--quiet")
    entries = ",".join(
        f"{rule}={sha256(tokens[rule].encode()).hexdigest()}" for rule in ("all", "b")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACCESS_TOKENS", entries)
        with served(project.export()) as (_, client):
            seen: dict[str, list[set[str]]] = {rule: [] for rule in tokens}
            for _ in range(2):
                for rule, token in tokens.items():
                    headers = {"Authorization": f"Bearer {token}"}
                    reply = client.get("/search?q=seal&top_k=50", headers=headers).json()
                    seen[rule].append({tag for hit in reply["results"] for tag in hit["tags"]})
    assert seen == {"all": [{"a", "b"}] * 2, "b": [{"b"}] * 2, "none": [set()] * 2}
