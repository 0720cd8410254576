"""`foundry doctor`: reports what works and what does not, and no secrets."""

import json
from importlib import metadata
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject, Project

from foundry.cli.main import main
from foundry.inspection import doctor

NOTE = {"note.md": "# Pumps\n\nReplace the D40 seal yearly.\n"}
KEYED = CONFIG + '[embedding]\nprovider = "openai"\nmodel = "m"\napi_key_env = "THE_KEY_OF_OURS"\n'


def examine(project: Project | None = None, *, code: int = 0) -> dict[str, dict[str, Any]]:
    place = [str(project.root)] if project else []
    result = CliRunner().invoke(main, ["doctor", *place, "--json"])
    assert result.exit_code == code, result.output
    return {finding["subject"]: finding for finding in json.loads(result.stdout)}


def test_installation_works(make_project: MakeProject) -> None:
    found = examine()
    assert found["numpy"]["said"] == metadata.version("numpy")
    assert found["built-in encoder"]["said"] == "works"
    assert found["extra server"]["said"] == "installed"
    result = CliRunner().invoke(main, ["doctor"])
    assert "everything needed works" in result.output


def test_missing_and_outdated_packages_are_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "fastapi":
            raise metadata.PackageNotFoundError(name)
        return "0.1" if name == "numpy" else real(name)

    monkeypatch.setattr(doctor.metadata, "version", version)
    found = examine(code=1)
    assert found["numpy"]["is_problem"]
    assert found["numpy"]["hint"].startswith("pip install 'numpy")
    assert "missing: fastapi" in found["extra server"]["said"]
    assert found["extra server"]["hint"] == "pip install 'rag-foundry[server]'"
    assert not found["extra server"]["is_problem"]


def test_items_used_by_the_project_come_first_and_the_rest_in_one_line(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", "/somewhere")
    project = make_project(NOTE, config=CONFIG + '[build]\nduplicates = "near"\n')
    lines = CliRunner().invoke(main, ["doctor", str(project.root)]).stdout.splitlines()
    told = {line[2:].split("  ")[0]: line for line in lines}
    assert "installed" in told["extra near"]
    assert "numpy" in told["packages"] and "click" in told["packages"]
    assert "office" in told["extras installed"] and "near" not in told["extras installed"]
    assert "HF_HOME" in told["variables set"] and "HF_HOME" not in told["variables unset"]
    assert len(lines) < 20


def test_an_extra_that_the_project_uses_and_lacks_is_a_problem(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "datasketch":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(doctor.metadata, "version", version)
    assert not examine()["extra near"]["is_problem"]
    project = make_project(NOTE, config=CONFIG + '[build]\nduplicates = "near"\n')
    assert examine(project, code=1)["extra near"]["is_problem"]


def test_index_is_checked(make_project: MakeProject) -> None:
    project = make_project(NOTE)
    assert examine(project)["index"]["said"] == "not built yet"
    project.succeed("build", "--quiet")
    assert "1 document, 1 chunk, intact" in examine(project)["index"]["said"]
    path = project.index / "chunks.jsonl"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    found = examine(project, code=1)["index"]
    assert "chunks.jsonl" in found["said"]
    assert found["hint"].startswith("foundry build")


def test_unreadable_project_is_a_finding(make_project: MakeProject) -> None:
    project = make_project({}, config="[project]\n")
    assert "project.name" in examine(project, code=1)["project"]["said"]


def test_values_of_variables_are_not_shown(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY_OF_OURS", "canary-of-the-key")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:canary-of-the-proxy@proxy.example")
    project = make_project(NOTE, config=KEYED)
    result = CliRunner().invoke(main, ["doctor", str(project.root)])
    assert "$THE_KEY_OF_OURS" in result.output
    assert "canary" not in result.output


def test_little_space_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LITTLE_SPACE_BYTES", 1 << 62)
    found = examine(code=1)["disk space"]
    assert found["is_problem"]
    assert found["hint"] == "free some space before building"
