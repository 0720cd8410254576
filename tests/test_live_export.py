"""Exports that embed queries with a service: its replies, failure and recovery."""

import json
import os
import re
import shutil
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject, Project, write_project
from embedding_services import FakeService, Refusal, embed_text, fake_service
from servers import check_types, get, in_checkout, post, run_tests, run_tool, serving
from waiting import wait_until

from foundry.cli.main import main
from foundry.config.project import load_config
from foundry.export.checksums import compare
from foundry.features.providers import PROVIDERS
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_server

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

NOTES = {
    f"{name}.md": f"# {name.title()}\n\n{text}\n"
    for name, text in {
        "seals": "Replace the D40 seal of the pump yearly.",
        "valves": "A valve that leaks is closed and tagged.",
        "air": "Fresh air reaches the people who dig.",
        "roof": "The roof is bolted before anybody goes below it.",
        "power": "Cables are lifted off the wet floor.",
        "water": "Water is pumped out of the sump at night.",
    }.items()
}
QUERIES = ("how is a leaking valve treated", "air for people", "the pump at night")
KEY = "sk-canary-51c9d2"
MODEL_PACKAGES = {"fastembed", "sentence-transformers"}


def options(service: FakeService, **more: object) -> str:
    provider = "cohere" if service.shape == "cohere" else "openai"
    values = {"provider": provider, "model": "fake", "query": "same", **more}
    values["base_url"] = service.base_url
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(["[embedding]", *lines, ""])


def build(make_project: MakeProject, service: FakeService, **more: object) -> Project:
    project = make_project(NOTES, config=CONFIG + options(service, **more))
    project.succeed("build", "--quiet")
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project, built and exported with a service that is now gone."""
    root = tmp_path_factory.mktemp("live") / "project"
    with fake_service() as service:
        project = write_project(root, NOTES, CONFIG + options(service), built=True)
        project.export()
    return project


@pytest.fixture
def exported(project: Project) -> Path:
    return project.root / "dist" / "notes"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeService]:
    """The same model at another address, which the environment specifies."""
    with fake_service() as running:
        monkeypatch.setenv("EMBEDDING_BASE_URL", running.base_url)
        yield running


def run(export: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run the export's own command line."""
    variables.setdefault("EMBEDDING_BASE_URL", os.environ.get("EMBEDDING_BASE_URL", ""))
    return subprocess.run(
        [*in_checkout(export), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": os.environ["PATH"], **variables},
        check=False,
    )


def port_of(service: FakeService) -> int:
    return int(service.base_url.split(":")[2].split("/")[0])


def serve(export: Path, **variables: str) -> AbstractContextManager[str]:
    """Run the export's server in place."""
    variables.setdefault("EMBEDDING_BASE_URL", os.environ.get("EMBEDDING_BASE_URL", ""))
    return serving(in_checkout(export), **variables)


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "took_ms": 0}


def is_degraded(answer: dict[str, Any]) -> bool:
    found = (answer["mode"], answer["reason"], answer["degraded"])
    if found == ("keyword", "embedder_unavailable", True):
        return True
    assert found == ("hybrid", "default", False)
    return False


def cosine(query: str, text: str, width: int, side: str) -> float:
    one, other = np.array(embed_text(query, width, side)), np.array(embed_text(text, width))
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize(
    ("shape", "width", "side"),
    [
        ("openai", 64, "document"),
        pytest.param("cohere", 1024, "query", marks=pytest.mark.slow),
    ],
)
def test_every_interface_uses_vectors_of_the_service(
    shape: Any, width: int, side: str, make_project: MakeProject
) -> None:
    variable = "EMBEDDING_API_KEY"
    with fake_service(shape, key=KEY) as service, pytest.MonkeyPatch.context() as patch:
        patch.setenv(variable, KEY)
        project = build(make_project, service)
        exported = project.export()
        with serve(exported, **{variable: KEY}) as address:
            for query in QUERIES:
                posted = without_time(post(f"{address}/search", {"query": query}))
                assert not is_degraded(posted)
                for hit in posted["results"]:
                    # A chunk is embedded together with its headings.
                    text = f"{hit['title']}\n{hit['text']}"
                    wanted = max(0.0, cosine(query, text, width, side))
                    assert hit["scores"]["semantic"] == pytest.approx(wanted, abs=0.02)
            assert posted == without_time(project.ask(query))
            answer = run(exported, "search", query, "--json", **{variable: KEY})
            assert posted == without_time(json.loads(answer.stdout))
            ready = get(f"{address}/readyz")
            assert ready["status"] == "ok"
            assert ready["embedder"] == {"status": "ok", "detail": None}
        for path in exported.rglob("*"):
            assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


@pytest.mark.slow
def test_service_that_is_down_at_start_up_is_used_once_it_responds(
    project: Project, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_service() as gone:
        port = port_of(gone)
    monkeypatch.setenv("EMBEDDING_BASE_URL", gone.base_url)
    with serve(exported) as address:
        assert is_degraded(get(f"{address}/search?q=valve"))
        ready = get(f"{address}/readyz")
        assert ready["status"] == "degraded"
        assert ready["embedder"]["status"] == "unavailable"
        assert ready["problem"] == ready["embedder"]["detail"]
        assert "127.0.0.1" not in ready["problem"]
        with fake_service(port=port):
            wait_until(lambda: not is_degraded(get(f"{address}/search?q=valve")))
            answer = get(f"{address}/search?q=valve")
            assert without_time(answer) == without_time(project.ask("valve"))
            assert get(f"{address}/readyz")["embedder"]["status"] == "ok"
        answer = get(f"{address}/search?q=valve")
        assert not is_degraded(answer)
        assert is_degraded(get(f"{address}/search?q=another+valve"))


def test_another_model_at_start_up_is_refused(service: FakeService, exported: Path) -> None:
    service.salt = "another model"
    for command in (["serve", "--port", "0"], ["search", "valve"], ["verify"]):
        done = run(exported, *command)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "openai model 'fake'" in done.stderr
        assert "the probe text's vector has a cosine of" in done.stderr
        assert "configure the service to serve the index's model" in done.stderr


def test_model_that_changes_while_running_is_detected(service: FakeService, exported: Path) -> None:
    with serve(exported) as address:
        service.decide = lambda *_: Refusal(503)
        assert is_degraded(get(f"{address}/search?q=valve"))
        service.decide = lambda *_: None
        service.salt = "another model"

        def is_found_out() -> bool:
            assert is_degraded(get(f"{address}/search?q=valve"))
            return bool(get(f"{address}/readyz")["embedder"]["status"] == "mismatch")

        wait_until(is_found_out)
        ready = get(f"{address}/readyz")
        assert ready["status"] == "degraded"
        assert "a different model" in ready["problem"]


@pytest.mark.slow
def test_slow_service_delays_only_its_own_query(
    service: FakeService, exported: Path, tmp_path: Path
) -> None:
    patient = tmp_path / "patient"
    shutil.copytree(exported, patient)
    module = patient / "notes" / "retrieval" / "embedding" / "live.py"
    text = module.read_text(encoding="utf-8")
    assert "\nDEADLINE_SECONDS = 5.0\n" in text
    module.write_text(text.replace("SECONDS = 5.0", "SECONDS = 3600.0"), encoding="utf-8")
    answers, answered = [], threading.Event()
    with serve(patient) as address:
        service.decide = lambda *_: None if answered.wait(600) else Refusal(503)
        slow = threading.Thread(
            target=lambda: answers.append(get(f"{address}/search?q=a+slow+query"))
        )
        asked = len(service.calls)
        slow.start()
        wait_until(lambda: len(service.calls) > asked)
        for _ in range(3):
            assert get(f"{address}/healthz") == {"status": "ok"}
            assert get(f"{address}/search?q=valve&mode=keyword")["reason"] == "requested"
        assert not answers
        answered.set()
        slow.join()
        assert not is_degraded(answers[0])


@pytest.mark.slow
def test_too_slow_service_times_out(service: FakeService, exported: Path) -> None:
    with serve(exported) as address:
        service.delay = 3600.0
        assert is_degraded(get(f"{address}/search?q=a+slow+query"))


def test_malformed_replies_degrade_to_keyword_search(service: FakeService, exported: Path) -> None:
    with serve(exported) as address:
        service.decide = lambda *_: "nan"
        assert is_degraded(get(f"{address}/search?q=valve"))
        assert get(f"{address}/readyz")["embedder"]["status"] == "unavailable"


def test_keyword_and_identifier_queries_make_no_call(service: FakeService, exported: Path) -> None:
    with serve(exported) as address:
        service.reset_counters()
        assert get(f"{address}/search?q=valve&mode=keyword")["mode"] == "keyword"
        assert get(f"{address}/search?q=D40")["reason"] == "identifier"
        assert service.calls == []
        query = "who lifts the cables"
        for _ in range(3):
            get(f"{address}/search?q={query.replace(' ', '+')}")
        assert service.calls == [[query]]


def test_verify_reports_whether_the_service_responds(service: FakeService, exported: Path) -> None:
    done = run(exported, "verify")
    assert (done.returncode, done.stderr) == (0, "")
    with fake_service() as gone:
        pass
    done = run(exported, "verify", EMBEDDING_BASE_URL=gone.base_url)
    assert done.returncode == 0
    assert "queries cannot be embedded, only keywords are searched" in done.stderr
    result = CliRunner().invoke(main, ["verify", str(exported)])
    assert result.exit_code == 0, result.output


def test_query_without_the_service_reports_it(project: Project, service: FakeService) -> None:
    service.decide = lambda *_: Refusal(503)
    assert is_degraded(project.ask("valve"))
    assert "keywords only (embedder_unavailable)" in project.succeed("query", "valve").stdout


def test_index_of_another_configuration_is_refused(project: Project, tmp_path: Path) -> None:
    copy = project.copy(tmp_path / "copy")
    file = copy.root / "foundry.toml"
    file.write_text(file.read_text().replace('"openai"', '"cohere"'), encoding="utf-8")
    for command in (["export", "--stale"], ["query", "valve"]):
        result = copy.run(*command)
        assert result.exit_code == 1
        assert "built with provider 'openai'" in result.stderr
        assert "foundry build" in result.stderr
    file.write_text(CONFIG, encoding="utf-8")
    assert "built with provider 'openai'" in copy.run("export", "--stale").stderr


def test_indexes_of_other_encoders_and_invalid_addresses_are_refused(
    make_project: MakeProject, exported: Path
) -> None:
    other = make_project(NOTES, name="pieces")
    other.succeed("build", "--quiet")
    pieces = other.export()
    done = run(pieces, "search", "valve", INDEX_DIR=str(exported / "notes" / "data"))
    assert done.returncode == 1
    assert "this server embeds them with a table" in done.stderr
    done = run(exported, "search", "valve", INDEX_DIR=str(pieces / "notes" / "data"))
    assert done.returncode == 1
    assert "need a table of word pieces" in done.stderr
    for address in ("ftp://x", "http://user:secret@x/v1", "http://x/?key=secret"):
        done = run(exported, "search", "valve", EMBEDDING_BASE_URL=address)
        assert done.returncode == 2
        assert "EMBEDDING_BASE_URL" in done.stderr
        assert "secret" not in done.stderr


def test_export_has_the_services_dependencies_and_no_values_in_code(
    make_project: MakeProject, exported: Path
) -> None:
    names = {path.stem for path in (exported / "notes" / "retrieval").rglob("*.py")}
    assert {"live", "openai", "circuit_breaker"} <= names
    assert not names & {"encoder", "cohere", "local"}
    assert not (exported / "notes" / "data" / "encoder").exists()
    assert '"httpx2' in (exported / "pyproject.toml").read_text()
    for file in ("README.md", ".env.example"):
        written = (exported / file).read_text(encoding="utf-8")
        assert "EMBEDDING_API_KEY" in written
        assert "EMBEDDING_BASE_URL" in written
    settings = json.loads((exported / "notes" / "settings.json").read_bytes())
    assert settings["embedding"].pop("base_url").startswith("http://127.0.0.1:")
    assert settings["embedding"] == {"api_key_env": "EMBEDDING_API_KEY", "dimensions": None}
    with fake_service() as second:
        project = make_project(
            NOTES,
            name="second",
            config=CONFIG + options(second, api_key_env="EMBEDDING_KEY_OF_OURS", dimensions=32),
        )
        project.succeed("build", "--quiet")
        other = project.export()
        assert not is_degraded(project.ask("valve"))
    for path in exported.rglob("*.py"):
        assert path.read_bytes() == (other / path.relative_to(exported)).read_bytes()
    assert not compare(other)


SERVICE = {"circuit_breaker", "live", "http"}
MODEL = {"local"}
NUMPY = {"transformer", "word_pieces"}
CLIENTS = {"openai", "cohere", "fastembed", "sentence_transformers"}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("none", set()),
        ("static", {"encoder"}),
        ("openai", {*SERVICE, "openai"}),
        ("cohere", {*SERVICE, "cohere"}),
        ("transformer", {*MODEL, *NUMPY}),
        ("fastembed", {*MODEL, "fastembed"}),
        ("sentence-transformers", {*MODEL, "sentence_transformers"}),
    ],
)
def test_exports_have_the_modules_of_their_encoder(
    name: str, wanted: set[str], make_project: MakeProject
) -> None:
    section = f'[embedding]\nprovider = "{name}"\n'
    section += "" if name in {"none", "static"} else 'model = "a/model"\n'
    project = make_project(NOTES, config=CONFIG + section)
    files = plan_server(
        Design.of(load_config(project.root), PROVIDERS[name]), None, with_tests=False
    )
    folders = ("notes/retrieval/embedding/", "notes/retrieval/")
    names = {Path(file).stem for file in files if Path(file).parent.as_posix() + "/" in folders}
    assert names & {"encoder", *SERVICE, *MODEL, *NUMPY, *CLIENTS} == wanted
    encoder = PROVIDERS[name]
    dependencies = tomllib.loads(files["pyproject.toml"].decode())["project"]["dependencies"]
    needed = {re.split("[<>=]", line)[0] for line in dependencies}
    assert needed & MODEL_PACKAGES == {name} & MODEL_PACKAGES
    is_live = encoder.kind in {"service", "model"}
    assert ("embedding" in json.loads(files["notes/settings.json"])) == is_live


@pytest.mark.slow
def test_export_passes_its_own_checks(
    service: FakeService, project: Project, tmp_path: Path
) -> None:
    asked = project.copy(tmp_path / "asked")
    question = '{"query": "leaking valve", "relevant": ["valves.md"], "mode": "hybrid"}\n'
    (asked.root / "questions.jsonl").write_text(question)
    export = asked.export()
    run_tool(export, "ruff", "check", "--no-cache", ".")
    check_types(export)
    # MCP, chats and pages do not depend on the query encoder.
    run_tests(export, "test_[ais]*.py")
