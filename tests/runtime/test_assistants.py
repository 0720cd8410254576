"""Configurations of assistants: what is printed, and files that are changed with care."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.mcp import assistants

NAMES = ("claude", "claude-code", "cursor", "vscode", "windsurf", "zed")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "INDEX_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(assistants, "settings", lambda: SimpleNamespace(name="handbook"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(home: Path) -> dict[str, str]:
    paths = sorted(path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_text("utf-8") for path in paths}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_is_what_is_installed(home: Path, name: str) -> None:
    printed = assistants.give_to(name, install=False)
    assert files(home) == {}
    said = assistants.give_to(name, install=True)
    ((path, text),) = files(home).items()
    assert json.loads(printed.split("\n\n", 1)[1]) == json.loads(text)
    assert Path(path).name in printed
    assert "handbook is in" in said
    assistants.give_to(name, install=True)
    assert files(home) == {path: text}


def test_the_entry_starts_this_package_from_anywhere(home: Path, tmp_path: Path) -> None:
    printed = assistants.give_to("claude", install=False).split("\n\n", 1)[1]
    server = json.loads(printed)["mcpServers"]["handbook"]
    assert server["command"] == sys.executable
    assert server["args"][:3] == ["-P", "-m", "runtime"]
    found = subprocess.run(
        [server["command"], "-P", "-c", "import runtime; print(runtime.__file__)"],
        env={**os.environ, **server["env"]},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(found.stdout.strip()) == Path(assistants.__file__).parents[1] / "__init__.py"


def test_all_else_stays_and_a_copy_is_kept(home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    before = '{"a": [1.0, "\u00e4"], "mcpServers": {"other": {"command": "x"}}, "z": null}'
    file.write_text(before, encoding="utf-8")
    file.chmod(0o600)
    assistants.give_to("cursor", install=True)
    held = json.loads(file.read_text("utf-8"))
    assert list(held) == ["a", "mcpServers", "z"]
    assert held["mcpServers"].pop("handbook")
    assert held == json.loads(before)
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text('{"mcpServers": {}}', encoding="utf-8")
    assistants.give_to("cursor", install=True)
    assert (file.parent / "mcp.json.1.bak").read_text("utf-8") == before
    assert (file.parent / "mcp.json.2.bak").read_text("utf-8") == '{"mcpServers": {}}'
    assert set(files(home)) == {f".cursor/mcp.json{end}" for end in ("", ".1.bak", ".2.bak")}


@pytest.mark.parametrize(
    "text", ["{", "// mine\n{}", "[]", '{"context_servers": []}', "[" * 100_000, "\ufffe\x00"]
)
def test_a_file_that_is_not_understood_is_left(home: Path, text: str) -> None:
    file = home / ".config" / "zed" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="left as it is") as caught:
        assistants.give_to("zed", install=True)
    assert "--print-config zed" in str(caught.value.hint)
    assert files(home) == {".config/zed/settings.json": text}


def test_an_unknown_assistant_is_told_the_known_ones(home: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        assistants.give_to("nobody", install=True)
    assert all(name in str(caught.value.hint) for name in NAMES)


def test_files_lie_where_each_system_has_them() -> None:
    home = Path("/home/me")
    for platform, folder in (
        ("darwin", home / "Library" / "Application Support"),
        ("linux", home / ".config"),
    ):
        found = assistants.assistants(home, platform, {})
        assert found["claude"].file == folder / "Claude" / "claude_desktop_config.json"
