"""Same inputs, same bytes and modes, for every locale, clock, umask and history."""

import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import CONFIG, MakeProject, Project, write_project
from processes import foundry, snapshot
from systems import as_another_user

# This applies only to exports in this process; other processes format like users' exports.
pytestmark = pytest.mark.usefixtures("formatted_once")

FILES = {
    "guide.md": "---\ntags: [b, a]\ndate: 2024-05-31\n---\n# Guide\n\nReplace the D40 seal.\n",
    "sources/größe/maß.md": "# Größe\n\nStraße und Maß: 12 µm.\n",
    "sources/日本語.txt": "検索エンジン\n\nテスト\n",
    "page.html": "<title>Page</title><h1>Page</h1><p>Pumps &amp; seals",
    "tool.py": 'def max_connections():\n    """Set the limit."""\n',
    "empty.txt": "",
    "ISPARTA.md": "# INDIGO IS IRIDESCENT\n\nID: III-1. The ISPARTA line.\n",
    "table.jsonl": '{"id": "1", "title": "One", "text": "First row", "tags": ["x", "y"]}\n',
}
TABLE = """
[[sources]]
type = "records"
name = "rows"
path = "sources/table.jsonl"
"""

ROOT = Path(__file__).parent.parent


def index_and_export(project: Project) -> dict[str, str]:
    exported = project.root / "dist" / "notes"
    return {
        **{f"index/{name}": what for name, what in snapshot(project.index).items()},
        **{f"export/{name}": what for name, what in snapshot(exported).items()},
    }


def turkish_locale(folder: Path) -> dict[str, str]:
    """Compile the locale where "I" has a dotless lower case and numbers have commas, if possible.

    Returns the environment variables that select it.
    """
    if shutil.which("localedef") is None:
        return {}
    compiled = ["localedef", "-i", "tr_TR", "-f", "UTF-8", folder / "tr_TR.UTF-8"]
    if subprocess.run(compiled, capture_output=True, check=False).returncode not in (0, 1):
        return {}
    return {"LOCPATH": str(folder), "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory, formatted_once: None) -> dict[str, str]:
    """The index and export made in this process."""
    del formatted_once
    project = write_project(tmp_path_factory.mktemp("here") / "one", FILES, CONFIG + TABLE)
    project.succeed("build", "--quiet")
    project.export()
    return index_and_export(project)


@pytest.mark.slow
def test_another_environment_gives_the_same_bytes_and_modes(
    make_project: MakeProject, wanted: dict[str, str], tmp_path: Path
) -> None:
    other = make_project(
        dict(reversed(FILES.items())), config=CONFIG + TABLE, name="a longer name/two"
    )
    for number, path in enumerate(sorted((other.root / "sources").rglob("*"))):
        os.utime(path, (1e9 + number, 1e9 + number))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    world = {"TZ": "America/St_Johns", "PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8"}
    world |= turkish_locale(tmp_path)
    for command in ("build", "export"):
        done = foundry(command, other.root, umask=0o000, cwd=elsewhere, variables=world)
        assert done.returncode == 0, done.stderr
    assert index_and_export(other) == wanted
    assert len(wanted) > 80
    modes = {what.split()[0] for what in wanted.values()}
    assert modes == {"100644", "40755"}


@pytest.mark.slow
def test_another_user_in_a_deleted_folder_writes_the_same(wanted: dict[str, str]) -> None:
    """The same user, if the system does not permit that."""
    prefix: tuple[str, ...] = ()
    with suppress(pytest.skip.Exception):
        prefix = as_another_user()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o777)
        project = write_project(place / "project", FILES, CONFIG + TABLE)
        subprocess.run(["chmod", "-R", "a+rwX", place], check=True)
        gone = place / "gone"
        shell = 'cd "$0" && rmdir "$0" && exec "$@"'
        for command in ("build", "export"):
            gone.mkdir()
            done = foundry(
                command,
                project.root,
                umask=0o077,
                prefix=[*prefix, "sh", "-c", shell, gone],
                variables={
                    "LC_ALL": "C",
                    "TZ": "Asia/Kolkata",
                    "PYTHONHASHSEED": "0",
                    "SOURCE_DATE_EPOCH": "1",
                    "HOME": "/nonexistent",
                    "XDG_CACHE_HOME": str(place / "cache"),
                    "PYTHONPATH": str(ROOT),
                    "PYTHONSAFEPATH": "1",
                },
            )
            assert done.returncode == 0, done.stderr
        assert index_and_export(project) == wanted
        assert stat.S_IMODE((project.root / ".foundry").stat().st_mode) == 0o700


def test_second_build_publishes_nothing(make_project: MakeProject) -> None:
    project = make_project(FILES, config=CONFIG + TABLE)
    project.succeed("build", "--quiet")
    before = snapshot(project.root / ".foundry" / "index")
    result = project.succeed("build", "--quiet")
    assert "(unchanged)" in result.output
    assert snapshot(project.root / ".foundry" / "index") == before
    os.utime(project.root / "sources" / "guide.md", (1e9, 1e9))
    assert "(unchanged)" in project.succeed("build", "--quiet").output
    (project.root / "sources" / "guide.md").write_text("# Guide\n\nNew.\n", encoding="utf-8")
    assert "(unchanged)" not in project.succeed("build", "--quiet").output


def test_a_moved_project_builds_the_same_bytes(
    make_project: MakeProject, wanted: dict[str, str], tmp_path: Path
) -> None:
    project = make_project(FILES, config=CONFIG + TABLE)
    project.succeed("build", "--quiet")
    moved = Project(tmp_path / "moved")
    shutil.move(project.root, moved.root)
    assert "(unchanged)" in moved.succeed("build", "--quiet").output
    moved.export()
    assert index_and_export(moved) == wanted


@pytest.mark.slow
def test_query_prints_utf_8_in_every_locale(make_project: MakeProject) -> None:
    project = make_project(FILES, config=CONFIG + TABLE)
    project.succeed("build", "--quiet")
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = foundry("query", project.root, "Maß", "--json", variables=variables)
    assert done.returncode == 0, done.stderr
    assert '"title":"Größe"' in done.stdout
