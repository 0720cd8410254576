"""Damaged exports and indexes: verify names the file; servers reject them and never crash."""

import importlib.util
import json
import os
import py_compile
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import Project, write_project
from faults import EVERY_FAULT
from processes import foundry
from servers import in_checkout
from sharing import begin_foundry

from foundry.cli.main import main
from foundry.export.checksums import hash_file
from foundry.runtime.index.layout import manifest_bytes
from foundry.runtime.index.tree import shown

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

SAMPLE = (
    "README.md",
    "SHA256SUMS",
    ".generated.json.bz2",
    "corpus.json",
    "pyproject.toml",
    "sbom.cdx.json",
    "uv.lock",
    "notes/search.py",
    "notes/settings.json",
    "notes/py.typed",
    "notes/data/manifest.json",
    "notes/data/chunks.jsonl",
    "notes/data/postings.impacts.npy",
    "notes/data/encoder/pieces.txt",
    "tests/test_app.py",
)


def make(root: Path) -> Project:
    note = "# Pumps\n\nA pump has a seal.\n\n## Seals\n\nReplace the D40 seal yearly.\n"
    return write_project(root, {"note.md": note}, built=True)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("verify") / "project").export()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make(tmp_path_factory.mktemp("tamper") / "project")
    project.ask("seal")
    return project


@pytest.fixture
def damaged(built: Project, tmp_path: Path) -> Project:
    """A separate project, to be damaged."""
    return built.copy(tmp_path / "project")


def findings(folder: Path, *options: str) -> str:
    """Return verify's messages about a folder that it must reject, whoever changed it."""
    result = CliRunner().invoke(main, ["verify", str(folder), *(options or ["--strict"])])
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    return result.stderr


def flip(path: Path, place: int, bits: int = 0x01) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= bits
    path.write_bytes(content)


def check_file(folder: Path, name: str, number: int | None = None) -> None:
    """Damage one file, in one way or in all, and repair it. Each damage must be found."""
    path, kept = folder / name, (folder / name).read_bytes()
    damages: list[Callable[[], object]] = [
        path.unlink,
        lambda: path.write_bytes(kept + b"\n"),
        lambda: (path.unlink(), path.mkdir()),
    ]
    if kept:
        damages += [
            lambda: flip(path, 0),
            lambda: flip(path, len(kept) // 2, 0x80),
            lambda: flip(path, len(kept) - 1, 0x20),
            lambda: path.write_bytes(kept[:-1]),
            lambda: path.write_bytes(b""),
        ]
    for damage in damages if number is None else [damages[number % len(damages)]]:
        damage()
        said = findings(folder)
        assert name in said or name == "SHA256SUMS", said
        if path.is_dir():
            path.rmdir()
        path.write_bytes(kept)


def test_intact_export_passes(exported: Path) -> None:
    result = CliRunner().invoke(main, ["verify", str(exported), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)[0]
    assert (report["documents"], report["findings"]) == (1, [])
    for line in (exported / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ")
        assert hash_file(exported / name) == digest


def test_server_names_a_damaged_file_of_its_index(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    flip(copy / "README.md", 0)
    # The owner may edit the rest.
    assert as_its_owner(copy, "-m", "notes", "verify").returncode == 0
    flip(copy / "notes" / "data" / "vectors.i8.npy", -1)
    done = as_its_owner(copy, "-m", "notes", "verify", "--json")
    assert done.returncode == 1
    assert "vectors.i8.npy: content differs" in done.stdout + done.stderr


def test_damage_of_a_file_is_found(exported: Path, tmp_path: Path) -> None:
    """One file is damaged in every way, the others in one way."""
    copy = shutil.copytree(exported, tmp_path / "copy")
    check_file(copy, "notes/search.py")
    for number, name in enumerate(SAMPLE):
        check_file(copy, name, None if EVERY_FAULT else number)


@pytest.mark.slow
def test_damage_of_any_file_is_found(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    names = [path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()]
    assert len(names) > 60
    for number, name in enumerate(names):
        check_file(copy, name, None if EVERY_FAULT else number)


def test_swapped_files_are_both_named(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    one, two = copy / "notes" / "index" / "records.py", copy / "notes" / "index" / "reader.py"
    kept = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(kept)
    said = findings(copy)
    assert "notes/index/records.py: changed" in said
    assert "notes/index/reader.py: changed" in said


@pytest.mark.slow
def test_any_file_swapped_with_another_is_named(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    names = sorted(path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file())
    pairs = [*zip(names, names[1:] + names[:1], strict=True)]
    for one, two in pairs if EVERY_FAULT else pairs[::3]:
        kept = (copy / one).read_bytes(), (copy / two).read_bytes()
        if kept[0] == kept[1]:
            continue
        (copy / one).write_bytes(kept[1])
        (copy / two).write_bytes(kept[0])
        said = findings(copy)
        for name in {one, two} - {"SHA256SUMS"}:
            assert f"{name}: changed" in said or "SHA256SUMS" in {one, two}, said
        assert "SHA256SUMS" not in {one, two} or "SHA256SUMS" in said
        (copy / one).write_bytes(kept[0])
        (copy / two).write_bytes(kept[1])


@pytest.mark.slow
def test_unknown_file_in_any_folder_is_named(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    folders = [copy, *(path for path in copy.rglob("*") if path.is_dir())]
    assert len(folders) > 4
    for folder in folders:
        stranger = folder / "stranger"
        stranger.write_bytes(b"")
        name = stranger.relative_to(copy).as_posix()
        assert f"{name}: not part of the export" in findings(copy)
        stranger.unlink()


def test_edit_is_named_even_if_the_list_was_changed_too(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    path, sums = copy / "notes" / "index" / "records.py", copy / "SHA256SUMS"
    old = hash_file(path)
    path.write_bytes(path.read_bytes() + b"# mine\n")
    sums.write_text(sums.read_text().replace(old, hash_file(path)))
    result = CliRunner().invoke(main, ["verify", str(copy)])
    assert result.exit_code == 0, result.output
    assert "edited by its owner: notes/index/records.py\n" in result.output


def test_server_is_not_started_without_its_libraries(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    path, sums = copy / "notes" / "web" / "problems.py", copy / "SHA256SUMS"
    old = hash_file(path)
    path.write_bytes(path.read_bytes() + b"import not_installed_here\n")
    sums.write_text(sums.read_text().replace(old, hash_file(path)))
    result = CliRunner().invoke(main, ["verify", str(copy)])
    assert result.exit_code == 0, result.output
    assert "edited by its owner: notes/web/problems.py\n" in result.output
    assert "not started, because not installed here: not_installed_here\n" in result.output


def test_working_edits_are_named_and_are_not_findings(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    for name in ("README.md", "notes/search.py"):
        (copy / name).write_text((copy / name).read_text() + "# mine\n")
    (copy / "notes.txt").write_text("mine\n")
    (copy / "corpus.json").unlink()
    result = CliRunner().invoke(main, ["verify", str(copy)])
    assert result.exit_code == 0, result.output
    for said in (
        "edited since the last update: README.md\n",
        "edited since the last update: notes/search.py\n",
        "added since the last update: notes.txt\n",
        "deleted since the last update: corpus.json\n",
    ):
        assert said in result.stdout
    assert "README.md: changed" in findings(copy)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes/search.py", b"def search_hybrid(:\n", "notes/search.py"),
        ("notes/search.py", b"raise SystemExit(1)\n", "notes"),
        ("notes/data/chunks.jsonl", b"", "notes/data/chunks.jsonl: changed"),
        ("notes/data/more.npy", b"", "notes/data/more.npy: not part of the export"),
        (".generated.json.bz2", b"", ".generated.json.bz2: changed"),
    ],
)
def test_edits_that_break_something_are_findings(
    name: str, content: bytes, said: str, exported: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    (copy / name).write_bytes(content)
    assert said in findings(copy, "--json")


def test_an_edit_that_loses_expected_results_is_a_finding(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    path = copy / "notes" / "search.py"
    text = path.read_text(encoding="utf-8")
    lost = (
        "\n\nwhole = search_hybrid\n\n\n"
        "def search_hybrid(query: str, top_k: int = 10, **options: object) -> object:\n"
        "    return whole('another', top_k, **options)\n"
    )
    path.write_text(text + lost, encoding="utf-8")
    assert "does not find" in findings(copy, "--json")


@pytest.mark.parametrize(
    "name", ["evil.py", "notes/evil.so", "notes/data/evil.pkl", "new/evil.pth", "a\nb", ".hidden"]
)
@pytest.mark.parametrize("kind", ["file", "link"])
def test_unknown_file_is_named(name: str, kind: str, exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    stranger = copy / name
    stranger.parent.mkdir(exist_ok=True)
    if kind == "file":
        stranger.write_bytes(b"")
    else:
        stranger.symlink_to("/etc/passwd")
    assert f"{shown(name)}: not part of the export" in findings(copy)


def test_link_in_place_of_a_file_is_named(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    path = copy / "notes" / "search.py"
    shutil.move(path, tmp_path / "search.py")
    path.symlink_to(tmp_path / "search.py")
    assert "notes/search.py: changed, a link" in findings(copy)


def as_its_owner(export: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run Python in an export, with bytecode read and written as by default."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": ""}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=export,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def plant_bytecode(source: Path, text: str, mode: str) -> Path:
    """Plant bytecode of another text for a module; returns the file."""
    planted = source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"
    forged = source.parent.parent / "forged.py"
    forged.write_text(text, encoding="utf-8")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(
        str(forged), cfile=str(planted), dfile=str(source), invalidation_mode=unchecked
    )
    forged.unlink()
    content = planted.read_bytes()[16:]
    if mode == "time and size":
        status = source.stat()
        header = bytes(4) + struct.pack("<II", int(status.st_mtime), status.st_size)
    elif mode == "hash":
        header = struct.pack("<I", 3) + importlib.util.source_hash(source.read_bytes())
    else:
        header = planted.read_bytes()[4:16]
    planted.write_bytes(importlib.util.MAGIC_NUMBER + header + content)
    return planted


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["time and size", "hash", "no check"])
def test_planted_bytecode_is_named_and_not_run(mode: str, exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    source = copy / "notes" / "index" / "reader.py"
    ran = tmp_path / "ran"
    text = source.read_text(encoding="utf-8") + f"open({str(ran)!r}, 'w').close()\n"
    planted = plant_bytecode(source, text, mode)
    name = planted.relative_to(copy).as_posix()
    finding = f"{name}: this was not compiled from reader.py; delete it"
    assert finding in findings(copy)
    assert not ran.exists()
    # Starting the server without verification runs the planted code.
    ran.unlink(missing_ok=True)
    assert as_its_owner(copy, "-m", "notes", "search", "seal").returncode == 0
    assert ran.exists()


@pytest.mark.slow
def test_bytecode_of_its_module_is_not_a_finding(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    for options in ([], ["-OO"]):
        done = as_its_owner(copy, *options, "-m", "notes", "search", "seal")
        assert done.returncode == 0, done.stderr
    assert len(list((copy / "notes").rglob("__pycache__/*.pyc"))) > 40
    verified = CliRunner().invoke(main, ["verify", str(copy)])
    assert verified.exit_code == 0, verified.output
    # Bytecode that Python ignores, because its module has changed since, is harmless.
    planted = plant_bytecode(
        copy / "notes" / "index" / "reader.py", "raise SystemExit", "time and size"
    )
    planted.write_bytes(planted.read_bytes()[:8] + bytes(8) + planted.read_bytes()[16:])
    assert CliRunner().invoke(main, ["verify", str(copy)]).exit_code == 0


@pytest.mark.parametrize("content", ["", "nonsense\n", f"{'0' * 64}  ../outside\n", "\xff"])
def test_malformed_list_is_refused(content: str, exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    (copy / "SHA256SUMS").write_bytes(content.encode("latin-1"))
    assert "SHA256SUMS" in findings(copy) or content == ""


def test_folder_that_is_not_an_export_is_refused(tmp_path: Path) -> None:
    assert "is neither an export nor a project" in findings(tmp_path)
    assert "no such folder" in findings(tmp_path / "nowhere")


def test_verify_of_a_project_names_damage_in_its_index(damaged: Project) -> None:
    assert damaged.run("verify").exit_code == 0
    flip(damaged.index / "vectors.i8.npy", -1)
    assert "vectors.i8.npy: content differs" in findings(damaged.root)
    (damaged.index / "extra.pkl").write_bytes(b"")
    assert "extra.pkl: not in the manifest" in findings(damaged.root)


def refuse(project: Project, *names: str) -> None:
    """Check that `foundry query` refuses the index and names one of these files."""
    result = project.run("query", "pump seal", "--json")
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert any(name in result.stderr for name in names), result.stderr


ARRAYS = sorted("""
    chunks.ids.npy chunks.offsets.npy documents.ids.npy documents.offsets.npy filters.modified.npy
    filters.source.npy filters.tags.chunks.npy filters.tags.offsets.npy postings.chunks.npy
    postings.impacts.npy postings.offsets.npy sketch.npy terms.offsets.npy vectors.centre.npy
    vectors.i8.npy vectors.scale.npy encoder/table.i8.npy encoder/weights.npy
    """.split())


def restamp(project: Project, name: str) -> None:
    """Make the manifest match a file, as an attacker would who changes both."""
    manifest = project.index / "manifest.json"
    content = json.loads(manifest.read_bytes())
    path = project.index / name
    content["files"][name] = {"bytes": path.stat().st_size, "sha256": hash_file(path)}
    manifest.write_bytes(manifest_bytes(content))
    project.sign_anew()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("chunks.jsonl", "missing"),
        ("chunks.jsonl", "truncated"),
        ("terms.bin", "truncated"),
        ("sketch.npy", "empty"),
        ("encoder/pieces.txt", "missing"),
        ("encoder/pieces.txt", "longer"),
    ],
)
def test_file_of_another_size_is_named(name: str, kind: str, damaged: Project) -> None:
    path = damaged.index / name
    content = path.read_bytes()
    path.unlink()
    if kind != "missing":
        path.write_bytes({"truncated": content[:-1], "empty": b"", "longer": content + b"\0"}[kind])
    refuse(damaged, name)
    assert damaged.run("export").exit_code == 1
    assert not (damaged.root / "dist").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ARRAYS)
def test_inconsistent_array_is_refused(name: str, built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    path = project.index / name
    original = np.load(path, allow_pickle=False)
    lies: dict[str, Any] = {
        "objects": np.array([{}, 1], dtype=object),
        "another type": original.astype(np.complex64),
        "another shape": original.reshape(-1, 1, 1),
        "nothing": original[:0],
    }
    for lie, array in lies.items():
        if lie == "nothing" and original.size == 0:
            continue
        np.save(path, array, allow_pickle=True)
        restamp(project, name)
        result = project.run("export")
        assert result.exit_code == 1, lie
        assert Path(name).name in result.stderr or "encoder" in result.stderr, lie
        assert "Traceback" not in result.output
    # A search reads no record of a document.
    if not name.startswith("documents."):
        refuse(project, Path(name).name, "encoder")


def test_objects_are_never_unpickled(damaged: Project) -> None:
    path = damaged.index / "vectors.scale.npy"
    np.save(path, np.array([{}, 1], dtype=object), allow_pickle=True)
    restamp(damaged, "vectors.scale.npy")
    refuse(damaged, "vectors.scale.npy")


def test_folder_named_empty_does_not_hide_damage(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "empty")
    (project.index / "filters.tags.chunks.npy").write_bytes(b"\x93NUMPY")
    restamp(project, "filters.tags.chunks.npy")
    refuse(project, "filters.tags.chunks.npy")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"format": 1}, "index format 1, but this server reads format 5"),
        ({"format": None}, "index format None"),
        ({"tokenizer_version": 99}, "built with tokenizer 99"),
        ({"dense": None}, "has no vectors"),
        ({"surprise": 1}, "manifest.json: unreadable"),
        ({"files": {"x": {}}}, "x: missing"),
        ({"known_items": [1]}, "manifest.json: unreadable"),
        ({"chunks": 3}, "expected"),
        ({"documents": 0}, "expected"),
        ({"terms": 1}, "expected"),
    ],
)
def test_manifest_with_wrong_values_is_refused(
    change: dict[str, object], expected: str, damaged: Project
) -> None:
    manifest = damaged.index / "manifest.json"
    content = {**json.loads(manifest.read_bytes()), **change}
    manifest.write_bytes(manifest_bytes(content))
    damaged.sign_anew()
    refuse(damaged, expected)
    result = damaged.run("export")
    assert result.exit_code == 1
    assert "Traceback" not in result.output


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_malformed_manifest_is_refused(content: bytes, damaged: Project) -> None:
    (damaged.index / "manifest.json").write_bytes(content)
    refuse(damaged, "manifest.json")


@pytest.mark.parametrize("content", ["", "v9", "../../etc", "v1/../..", "v\u00b2", "\u00ff"])
def test_current_file_without_a_version_is_refused(content: str, damaged: Project) -> None:
    current = damaged.root / ".foundry" / "index" / "CURRENT"
    current.write_text(content, encoding="utf-8")
    refuse(damaged, "CURRENT", "v9")


@pytest.mark.parametrize("name", ["manifest.json", "chunks.jsonl", "vectors.i8.npy", "report.json"])
def test_next_build_repairs_a_damaged_index(name: str, damaged: Project) -> None:
    flip(damaged.index / name, -3)
    result = damaged.succeed("build", "--quiet")
    assert "(unchanged)" not in result.output
    assert damaged.run("verify").exit_code == 0
    assert damaged.ask("pump seal")["results"]


def test_next_build_repairs_a_lost_current_file(damaged: Project) -> None:
    (damaged.root / ".foundry" / "index" / "CURRENT").write_text("nonsense", encoding="utf-8")
    damaged.succeed("build", "--quiet")
    assert damaged.ask("pump seal")["results"]


FLIPPER = """
import random, sys
from pathlib import Path
package, root, seed, most = sys.argv[1:5]
server = __import__(package)
from importlib import import_module
Documents = import_module(package + ".index.documents").Documents
ServerError = import_module(package + ".errors").ServerError
# Nothing is hashed, so that searches meet the damage.
import_module(package + ".index.layout").HASHED_AT_ONCE_BYTES = -1
generator = random.Random(int(seed))
answered = refused = 0
for path in sorted(path for path in Path(root).rglob("*") if path.is_file()):
    content = path.read_bytes()
    places = range(len(content))
    if len(places) > int(most):
        places = generator.sample(places, int(most))
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        try:
            index = server.load(root, verify=False)
            for mode in ("hybrid", "semantic", "keyword"):
                server.search_hybrid("pump seal", mode=mode).to_json()
            documents = index.part(Documents.open)
            for document in documents.page():
                [*documents.chunks_of(document)]
            documents.sources()
            answered += 1
        except ServerError:
            refused += 1
        except Exception as error:
            # An index that is hashed says where the damage is, so any error can be explained.
            findings = index.verify()
            assert any(path.name in finding for finding in findings), (path, place, error)
            refused += 1
    path.write_bytes(content)
print(answered, refused)
"""


@pytest.mark.slow
def test_searches_with_flipped_bits_work_or_are_explained(damaged: Project) -> None:
    server = damaged.root / ".foundry" / "server"
    start = f"import sys; sys.path.insert(0, {str(server)!r})\n" + FLIPPER
    # Number of damaged positions in each file.
    most = "300" if EVERY_FAULT else "12"
    where = ["notes", damaged.index, "7", most]
    done = subprocess.run(
        [sys.executable, "-B", "-W", "ignore", "-c", start, *where],
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answered, refused = map(int, done.stdout.split())
    assert answered > 100
    assert refused > 100


def test_damage_that_breaks_a_search_is_explained(damaged: Project) -> None:
    flip(damaged.index / "postings.chunks.npy", -1, 0x40)
    path = damaged.index / "postings.chunks.npy"
    content = bytearray(path.read_bytes())
    content[128:] = b"\x7f" * (len(content) - 128)
    path.write_bytes(content)
    refuse(damaged, "postings.chunks.npy: content differs from the manifest")


def test_server_refuses_a_damaged_index(exported: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(exported, tmp_path / "copy")
    (copy / "notes" / "data" / "sketch.npy").write_bytes(b"")
    done = subprocess.run(
        [*in_checkout(copy), "serve", "--port", "0"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "sketch.npy" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_project_in_a_folder_whose_name_is_not_utf8(tmp_path: Path) -> None:

    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    project = make(root)
    done = foundry("build", project.root)
    assert done.returncode == 0, done.stderr
    assert "\\udce9" in done.stdout
    begin = begin_foundry()
    assert foundry("query", project.root, "seal", "--json", begin=begin).returncode == 0
    assert foundry("export", project.root, begin=begin).returncode == 0
    assert foundry("verify", project.root, "--json", begin=begin).returncode == 0
