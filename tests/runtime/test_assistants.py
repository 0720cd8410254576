"""Configurations of assistants: the printed entries, and how files are edited."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
def test_printed_entries_equal_installed_ones(home: Path, name: str) -> None:
    printed = assistants.give_to(name, install=False)
    assert files(home) == {}
    said = assistants.give_to(name, install=True)
    ((path, text),) = files(home).items()
    assert json.loads(printed.entry) == json.loads(text)
    assert Path(path).name in printed.said
    assert "handbook is in" in said.said and not said.entry
    assistants.give_to(name, install=True)
    assert files(home) == {path: text}


def test_the_entry_starts_this_package_from_anywhere(home: Path, tmp_path: Path) -> None:
    printed = assistants.give_to("claude", install=False).entry
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


ASKS = """
import json, sys
sys.path[1:1] = {added!r}
from notes.mcp import assistants
if len(sys.argv) > 1:
    print(assistants.__file__, sys.argv[1:])
else:
    print(json.dumps(assistants._entry("mcpServers")))
"""


def installed(folder: Path) -> Path:
    """A package and, in another folder, a library that it needs."""
    ignore = shutil.ignore_patterns("__pycache__", "page")
    shutil.copytree(Path(assistants.__file__).parents[1], folder / "notes", ignore=ignore)
    (folder / "notes" / "__main__.py").write_text(
        "import sys\nimport needed_by_notes\nfrom .mcp import assistants\n"
        "print(assistants.__file__, sys.argv[1:])\n"
    )
    libraries = folder.parent / "libraries"
    libraries.mkdir(parents=True)
    (libraries / "needed_by_notes.py").touch()
    return libraries


def started(entry: dict[str, Any], folder: Path) -> str:
    """Return the output of an entry's command, run in a folder with a clean environment."""
    (folder / "notes").mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        env={"PATH": os.defpath, **entry.get("env", {})},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["target", "site-packages", "dist-packages", "with blank"])
def test_the_entry_starts_a_package_installed_anywhere(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / name
    libraries = installed(folder)
    begun = tmp_path / "begun"
    begun.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", ASKS.format(added=[str(libraries)])],
        env={"PATH": os.defpath, "PYTHONPATH": str(folder)},
        cwd=begun,
        capture_output=True,
        text=True,
        check=True,
    )
    entry = json.loads(done.stdout)
    assert entry["env"] == {"PYTHONPATH": f"{folder}{os.pathsep}{libraries}"}
    place = folder / "notes" / "mcp" / "assistants.py"
    assert started(entry, tmp_path / "elsewhere") == f"{place} ['mcp']"


def test_the_entry_starts_a_package_within_an_archive(tmp_path: Path) -> None:
    """shiv and pex produce such archives: one file that unpacks its content."""
    libraries = installed(tmp_path / "unpacked" / "site-packages")
    with zipfile.ZipFile(tmp_path / "notes.pyz", "w") as archive:
        added = [str(tmp_path / "unpacked" / "site-packages"), str(libraries)]
        archive.writestr("__main__.py", ASKS.format(added=added))
    done = subprocess.run(
        [sys.executable, "notes.pyz"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    entry = json.loads(done.stdout)
    assert entry["args"] == [str(tmp_path / "notes.pyz"), "mcp"]
    assert started(entry, tmp_path / "elsewhere").endswith("/assistants.py ['mcp']")


def ask(*options: str) -> None:
    """Run the command `mcp` with options, as `foundry.runtime.cli.run` does."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    commands.add_parser("mcp").set_defaults(serve=lambda _: sys.stdout.write("serving\n"))
    assistants.add_assistants(commands)
    chosen = parser.parse_args(["mcp", *options])
    chosen.serve(chosen)


def test_only_the_entry_is_printed_to_standard_output(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask("--print-config", "zed")
    printed = capsys.readouterr()
    assert "handbook" in json.loads(printed.out)["context_servers"]
    assert printed.err == f"add this to {home}/.config/zed/settings.json, which Zed reads:\n"
    ask("--install", "zed", "--install", "cursor")
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("handbook is in") == 2
    assert set(files(home)) == {".config/zed/settings.json", ".cursor/mcp.json"}
    ask()
    assert capsys.readouterr().out == "serving\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--install", "zed", "--print-config", "zed"),
        ("--print-config", "zed", "--install", "zed"),
        ("--install", "zed", "--unknown"),
        ("--install", "zed", "--install"),
    ],
)
def test_options_that_are_refused_install_nothing(home: Path, options: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        ask(*options)
    assert ended.value.code == 2
    assert files(home) == {}


def test_other_settings_are_kept_and_a_copy_is_made(home: Path) -> None:
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
    "text",
    [
        "{",
        '{"a": "\\ud800"}',
        "// mine\n{}",
        "[]",
        '{"context_servers": []}',
        "[" * 100_000,
        "\ufffe\x00",
    ],
)
def test_a_malformed_file_is_not_changed(home: Path, text: str) -> None:
    file = home / ".config" / "zed" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="was left unchanged") as caught:
        assistants.give_to("zed", install=True)
    assert "--print-config zed" in str(caught.value.hint)
    assert files(home) == {".config/zed/settings.json": text}


def test_known_assistants_are_listed_for_an_unknown_one(home: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        assistants.give_to("nobody", install=True)
    assert all(name in str(caught.value.hint) for name in NAMES)


def test_paths_of_files_by_operating_system() -> None:
    home = Path("/home/me")
    for platform, folder in (
        ("darwin", home / "Library" / "Application Support"),
        ("linux", home / ".config"),
    ):
        found = assistants.assistants(home, platform, {})
        assert found["claude"].file == folder / "Claude" / "claude_desktop_config.json"
        assert found["zed"].file == home / ".config" / "zed" / "settings.json"


@pytest.mark.parametrize(
    ("platform", "variables", "claude", "zed"),
    [
        ("linux", {"XDG_CONFIG_HOME": "/conf"}, "/conf", "/conf"),
        ("linux", {"XDG_CONFIG_HOME": "conf"}, "/home/me/.config", "/home/me/.config"),
        ("linux", {"XDG_CONFIG_HOME": ""}, "/home/me/.config", "/home/me/.config"),
        ("linux", {"FLATPAK_XDG_CONFIG_HOME": "/flat"}, "/home/me/.config", "/flat"),
        (
            "darwin",
            {"XDG_CONFIG_HOME": "/conf"},
            "/home/me/Library/Application Support",
            "/home/me/.config",
        ),
    ],
)
def test_variables_override_paths_of_files(
    platform: str, variables: dict[str, str], claude: str, zed: str
) -> None:
    found = assistants.assistants(Path("/home/me"), platform, variables)
    assert found["claude"].file == Path(claude, "Claude", "claude_desktop_config.json")
    assert found["zed"].file == Path(zed, "zed", "settings.json")
    assert found["cursor"].file == Path("/home/me/.cursor/mcp.json")
    assert found["windsurf"].file == Path("/home/me/.codeium/windsurf/mcp_config.json")
