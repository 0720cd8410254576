"""The configuration chooses whether the chat may use a language model.

Without this choice, an export contains no code for language models.
"""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject, Project

from foundry.cli.main import main
from foundry.config.project import load_config
from foundry.features.providers import PROVIDERS
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_server
from foundry.serving.adopt import adopt
from foundry.serving.options import Adopted

pytestmark = pytest.mark.usefixtures("formatted_once")

NOTE = {"note.md": "# Pumps\n\nReplace the seal.\n"}
SERVER = '[embedding]\nprovider = "none"\n[server]\nmcp = false\npage = false\n'
MODEL = {"LLM_BASE_URL": "http://127.0.0.1:9/v1", "LLM_MODEL": "m"}
OF_A_MODEL = {
    "notes/model/__init__.py",
    "notes/model/client.py",
    "notes/model/events.py",
    "notes/model/replies.py",
    "notes/chat/claims.py",
    "notes/chat/comparing/__init__.py",
    "notes/chat/comparing/coefficients.py",
    "notes/chat/comparing/denials.py",
    "notes/chat/comparing/edits.py",
    "notes/chat/comparing/evidence.py",
    "notes/chat/comparing/quantities.py",
    "notes/chat/comparing/words.py",
    "notes/chat/guarded_model.py",
    "notes/chat/model_answer.py",
    "notes/chat/model_text.py",
    "notes/chat/prompt.py",
    "notes/chat/support.py",
    "notes/retrieval/circuit_breaker.py",
    "tests/chat/test_guarded_model.py",
    "tests/chat/test_model_answers.py",
    "tests/chat/test_model_text.py",
    "tests/chat/test_prompt.py",
    "tests/chat/test_support.py",
}


@pytest.fixture(autouse=True)
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MODEL:
        monkeypatch.delenv(name, raising=False)


def planned(project: Project, options: str) -> dict[str, bytes]:
    (project.root / "foundry.toml").write_text(CONFIG + SERVER + options)
    return plan_server(Design.of(load_config(project.root), PROVIDERS["none"]), None)


def test_exports_have_no_code_for_models_unless_chosen(make_project: MakeProject) -> None:
    project = make_project(NOTE)
    without = planned(project, "openai = true\n")
    chosen = planned(project, "openai = true\nlanguage_model = true\n")
    assert chosen.keys() - without.keys() == OF_A_MODEL
    assert without.keys() <= chosen.keys()
    for name in (".env.example", "README.md"):
        assert b"LLM_" in chosen[name]
        assert b"LLM_" not in without[name]
    settings = [json.loads(files["notes/settings.json"]) for files in (chosen, without)]
    assert [one.pop("chat_instructions", None) for one in settings] == ["", None]
    assert settings[0] == settings[1]
    needed, less = (
        set(tomllib.loads(files["pyproject.toml"].decode())["project"]["dependencies"])
        for files in (chosen, without)
    )
    assert [name.partition(">")[0] for name in needed ^ less] == ["httpx2"]


def test_chats_of_new_projects_may_use_a_model(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "note.md").write_text(NOTE["note.md"])
    arguments = ["init", str(tmp_path / "new"), "--source", str(tmp_path / "docs")]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert "language_model" in load_config(tmp_path / "new").server.interfaces


def test_a_chat_that_no_longer_uses_a_model_is_reported(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "warning: the chat of this server does not ask a language model"
    project = make_project(NOTE, config=CONFIG + SERVER)
    project.succeed("build", "--quiet")
    config = project.root / "foundry.toml"
    config.write_text(CONFIG + SERVER + "language_model = true\n")
    assert "warning" not in project.run("export").stderr
    config.write_text(CONFIG + SERVER)
    folder = load_config(project.root).default_export
    for arguments in (["--dry-run"], []):
        result = CliRunner().invoke(main, ["update", str(folder), *arguments])
        assert result.exit_code == 0
        assert said in result.stderr
        assert "language_model = true in [server]" in result.stderr
    # Later exports repeat the warning only if a model is configured.
    assert "warning" not in project.run("export").stderr
    for name, value in MODEL.items():
        monkeypatch.setenv(name, value)
    assert said in project.run("export").stderr


def test_a_folder_is_served_with_the_named_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "note.md").write_text(NOTE["note.md"])
    for variables, is_chosen in (({}, False), (MODEL, True)):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        adopted = adopt(str(tmp_path / "notes"))
        assert isinstance(adopted, Adopted)
        server = load_config(adopted.project).server
        assert ("language_model" in server.interfaces) == is_chosen
