"""The question log, in servers with and without it."""

import importlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject, Project
from servers import get, in_checkout, serving
from small_indexes import client_of, imported
from starlette.testclient import TestClient

from foundry.cli.main import main

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FILES = {
    "pumps.md": "# Pumps\n\nA pump has a seal, which is replaced every year.",
    "valves.md": "# Valves\n\nA valve has a stem. Oil it.",
}
CHOSEN = f"{CONFIG}\n[server]\nquestion_log = true\n"
TOKEN = "secret-" + "x" * 40


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QUESTION_LOG", str(tmp_path / "questions.jsonl"))
    monkeypatch.setenv("API_TOKENS", TOKEN)
    return tmp_path / "questions.jsonl"


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    made = make_project(FILES, config=CHOSEN)
    made.succeed("build", "--quiet")
    return made


@contextmanager
def served(project: Project) -> Iterator[tuple[ModuleType, TestClient]]:
    """The package of an export, and a client of its application."""
    with imported(project.export(), "notes") as package:
        # Treat every query as complete, not as one that is still being typed.
        vars(importlib.import_module("notes.web.questions"))["TYPING_SECONDS"] = 0.0
        headers = {"Authorization": f"Bearer {TOKEN}", "User-Agent": "tell-tale"}
        with client_of(package, headers=headers) as client:
            yield package, client


def test_unanswered_questions_are_logged_by_every_interface(project: Project, file: Path) -> None:
    with served(project) as (_, client):
        search = {"query": "who pays for parking permits", "top_k": 1}
        found = client.post("/search", json=search).json()
        client.get("/search?q=seal")
        asked = {"messages": [{"role": "user", "content": "where is the canteen of the ministry"}]}
        client.post("/chat", json=asked)
        call = {"name": "search", "arguments": {"query": "quarterly figures"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        accepted = {"Accept": "application/json, text/event-stream"}
        client.post("/mcp", json=message, headers=accepted)
        wait_for(client, 3)
    assert found["match"] != "strong"
    lines = [json.loads(line) for line in file.read_text("ascii").splitlines()]
    assert [line["query"] for line in lines] == [
        "who pays for parking permits",
        "where is the canteen of the ministry",
        "quarterly figures",
    ]
    assert lines[0].keys() == {"day", "query", "match", "mode", "results", "documents"}
    assert (lines[0]["match"], lines[0]["results"]) == (found["match"], len(found["results"]))
    assert lines[0]["documents"] == [hit["document_id"] for hit in found["results"]]
    told = file.read_text("ascii")
    assert not any(secret in told for secret in (TOKEN, "tell-tale", "testclient", "127.0.0.1"))
    # The export is unchanged, and its questions can be drafted.
    result = CliRunner().invoke(main, ["verify", str(project.root / "dist" / "notes")])
    assert result.exit_code == 0, result.output
    assert "quarterly figures" in project.succeed("questions", "--log", str(file)).stdout


def test_the_last_question_is_logged_as_the_server_stops(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    with serving(in_checkout(project.export()), QUESTION_LOG=str(file)) as address:
        get(f"{address}/search?q=parking+permits")
        # The question may still be typed.
        assert not file.read_text()
    (line,) = map(json.loads, file.read_text("ascii").splitlines())
    assert line["query"] == "parking permits"


def test_thumbs_are_logged_for_existing_passages(project: Project, file: Path) -> None:
    with served(project) as (_, client):
        assert client.get("/thumbs").json() == {"kept": True}
        hit = client.get("/search?q=seal").json()["results"][0]
        thumb = {"query": "seal", "id": hit["id"], "thumb": "up"}
        assert client.post("/thumbs", json=thumb).json() == {"kept": True}
        for wrong in (
            {"id": "absent"},
            {"id": hit["document_id"]},
            {"id": ""},
            {"id": "x" * 5_000},
            {"thumb": "sideways"},
            {"query": " "},
            {"query": "x" * 2_001},
            {"comment": "free text"},
        ):
            refused = client.post("/thumbs", json={**thumb, **wrong})
            assert refused.status_code == 422, wrong
        elsewhere = {"Origin": "https://elsewhere.example"}
        assert client.post("/thumbs", json=thumb, headers=elsewhere).status_code == 403
        plain = client.post("/thumbs", content=json.dumps(thumb))
        assert plain.status_code == 415
        stranger = {"Authorization": "Bearer " + "y" * 40}
        assert client.post("/thumbs", json=thumb, headers=stranger).status_code == 401
        wait_for(client, 1)
    (line,) = [json.loads(line) for line in file.read_text("ascii").splitlines()]
    assert line.pop("day").count("-") == 2
    assert line == {"query": "seal", "document": hit["document_id"], "thumb": "up"}
    drafts = json.loads(project.succeed("questions", "--log", str(file), "--json").stdout)
    assert [(one["query"], one["relevant"]) for one in drafts["questions"]] == [
        ("seal", ["pumps.md"])
    ]


def wait_for(client: TestClient, count: int) -> None:
    """Wait until this many lines were written and counted."""
    for _ in range(3_000):
        if f'questions_total{{result="kept"}} {count}.0' in client.get("/metrics").text:
            return
        time.sleep(0.01)
    raise AssertionError("the lines were not written")


def test_without_a_log_file_searches_still_work(
    project: Project, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QUESTION_LOG")
    with served(project) as (_, client):
        assert client.get("/search?q=parking").status_code == 200
        hit = client.get("/search?q=seal").json()["results"][0]
        thumb = {"query": "seal", "id": hit["id"], "thumb": "up"}
        assert client.post("/thumbs", json=thumb).json() == {"kept": False}
        assert client.get("/thumbs").json() == {"kept": False}
        assert "questions_total{" not in client.get("/metrics").text
    assert not file.exists()


def test_a_server_without_the_log_has_no_files_of_it(make_project: MakeProject) -> None:
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    export = project.export()
    files = [path for path in export.rglob("*") if path.is_file()]
    words = b"QUESTION_LOG", b"web.questions", b"thumbs.js", b'"/thumbs"'
    assert not any(word in path.read_bytes() for path in files for word in words)
    left_out = {"questions.py", "thumbs.py", "thumbs.js", "thumbs.css"}
    assert not left_out & {path.name for path in files if path.parent.name != "data"}
