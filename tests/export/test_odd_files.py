"""Special files in an export are reported, but never opened or waited for."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_exports import FILES
from systems import make_device, needs_root, without_rights

from foundry.errors import ExportError, FoundryError, VerificationError
from foundry.export.checksums import CHECKSUMS, format_checksums, list_files, read_checksums
from foundry.export.differences import diff_export
from foundry.export.existing import GENERATED
from foundry.export.update import update_export
from foundry.export.verify import verify_export
from foundry.export.write import Export, check_target, write_export
from foundry.runtime.index.tree import MAX_DEPTH

pytestmark = pytest.mark.usefixtures("forked_servers")

Act = Callable[[Path, Export], object]
ACTS: dict[str, Act] = {
    "verify": lambda folder, _: verify_export(folder),
    "verify --strict": lambda folder, _: verify_export(folder, strict=True),
    "update": lambda folder, export: update_export(folder, export, force=False, dry_run=False),
    "export --force": lambda folder, export: write_export(folder, export, force=True),
    "export": lambda folder, export: write_export(folder, export, force=False),
    "the target alone": lambda folder, _: check_target(folder, folder.parent),
}


@pytest.fixture(autouse=True)
def time_limit() -> Iterator[None]:
    """Fail a test that takes 60 seconds, for example because it waits for a named pipe."""

    def fail(*_: object) -> None:
        raise AssertionError("still waiting")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def remove_nested_folders(tmp_path: Path) -> Iterator[None]:
    """Remove deeply nested folders, which neither Python nor pytest can do."""
    yield
    subprocess.run(["rm", "-rf", str(tmp_path)], check=True)


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Export]:
    index = tmp_path / "index"
    index.mkdir()
    (index / "manifest.json").write_bytes(b"{}")
    export = Export(FILES, index, "acme/data")
    write_export(tmp_path / "export", export, force=False)
    return tmp_path / "export", export


def bind(path: Path) -> None:
    # A socket's address has a maximum length, so its path must be short.
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(path.parent)
        listener.bind(path.name)
        os.chdir(here)


def dig(path: Path, depth: int = 900) -> None:
    here = os.open(".", os.O_RDONLY)
    os.chdir(path.parent)
    for _ in range(depth):
        Path(path.name).mkdir()
        os.chdir(path.name)
    Path("end").touch()
    os.fchdir(here)
    os.close(here)


PLANTED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (os.mkfifo, "a named pipe"),
    "a socket": (bind, "a socket"),
    "a nest of folders": (dig, f"a folder nested more than {MAX_DEPTH} levels deep"),
}
PLACES = ("odd", "acme/odd", "acme/data/odd", "acme/odd.py")
IN_PLACES = [
    *((kind, place) for kind in ("a pipe", "a socket") for place in PLACES),
    # Checking such a deep tree takes long.
    ("a nest of folders", "acme/odd"),
]


@pytest.mark.parametrize(("kind", "place"), IN_PLACES)
@pytest.mark.parametrize("act", ACTS)
def test_special_files_are_named_and_kept(
    act: str, kind: str, place: str, made: tuple[Path, Export]
) -> None:
    folder, export = made
    plant, said = PLANTED[kind]
    plant(folder / place)
    before = [*list_files(folder)]
    with pytest.raises(FoundryError) as caught:
        ACTS[act](folder, export)
    assert isinstance(caught.value, VerificationError | ExportError)
    assert place in caught.value.message and said in caught.value.message
    assert [*list_files(folder)] == before
    assert f"not part of the export, {said}: {place}" in diff_export(folder, export)


@pytest.mark.parametrize("name", [*FILES, CHECKSUMS, GENERATED, "acme/data/manifest.json"])
@pytest.mark.parametrize("act", ACTS)
def test_a_pipe_in_place_of_a_file_is_named(act: str, name: str, made: tuple[Path, Export]) -> None:
    folder, export = made
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(FoundryError, match="named pipe") as caught:
        ACTS[act](folder, export)
    assert name in caught.value.message
    assert f"a named pipe: {name}\n" in diff_export(folder, export)


@needs_root
@pytest.mark.parametrize("act", ACTS)
def test_a_device_is_named_and_not_read(act: str, made: tuple[Path, Export]) -> None:
    folder, export = made
    (folder / "README.md").unlink()
    make_device(folder / "README.md")
    with pytest.raises(FoundryError, match=r"README\.md: .*a device"):
        ACTS[act](folder, export)


NAMES = [b"caf\xe9.md", b"a\nb.md", b"a\x1b[31mb.md", b"back\\slash\\n", b"tab\t.md", b"caf\xe9.py"]
SHOWN = [
    *(r"caf\xe9.md", r"a\x0ab.md", r"a\x1b[31mb.md"),
    *("back\\slash\\n", r"tab\x09.md", r"caf\xe9.py"),
]


@pytest.mark.parametrize(
    ("name", "said", "within"),
    [*zip(NAMES, SHOWN, 2 * ["", "acme/", "deep/er/"], strict=True)],
    ids=SHOWN,
)
def test_a_file_of_any_name_is_kept_and_listed(
    name: bytes, said: str, within: str, made: tuple[Path, Export]
) -> None:
    folder, export = made
    path = folder / within / os.fsdecode(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x = 1\n")
    own = within + os.fsdecode(name)
    assert verify_export(folder)["added"] == [own]
    with pytest.raises(VerificationError) as strict:
        verify_export(folder, strict=True)
    assert strict.value.findings[0].replace("\t", r"\x09") == (
        f"{within}{said}: not part of the export"
    )
    assert diff_export(folder, export) == f"not part of the export: {within}{said}\n"
    with pytest.raises(ExportError) as refused:
        write_export(folder, export, force=False)
    assert len(refused.value.message.splitlines()) == 2
    for _ in range(2):
        update_export(folder, export, force=False, dry_run=False)
        assert path.read_bytes() == b"x = 1\n"
        assert own in read_checksums(folder)
        done = subprocess.run(
            ["sha256sum", "--check", "--quiet", CHECKSUMS], cwd=folder, capture_output=True
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert verify_export(folder, strict=True)["added"] == [own]
    assert write_export(folder, export, force=True) == {own: own} or path.read_bytes() == b"x = 1\n"


def test_a_list_of_checksums_can_contain_any_name() -> None:
    names = [os.fsdecode(name) for name in NAMES]
    content = format_checksums(dict.fromkeys(names, 64 * "a"))
    assert b"\\" + 64 * b"a" + b"  a\\nb.md\n" in content
    assert 64 * b"a" + b"  caf\xe9.md\n" in content


@pytest.mark.parametrize("target", ["/", "nowhere", "odd"])
def test_verify_names_links_and_other_commands_keep_them(
    target: str, made: tuple[Path, Export]
) -> None:
    folder, export = made
    (folder / "odd").symlink_to(target)
    with pytest.raises(VerificationError, match="odd: not part of the export, a link"):
        verify_export(folder)
    update_export(folder, export, force=False, dry_run=False)
    write_export(folder, export, force=True)
    assert (folder / "odd").readlink() == Path(target)
    assert "not part of the export, a link: odd" in diff_export(folder, export)


def test_files_in_the_owners_folders_are_kept(made: tuple[Path, Export]) -> None:
    folder, export = made
    (folder / ".git").mkdir()
    bind(folder / ".git" / "fsmonitor--daemon.ipc")
    os.mkfifo(folder / ".env")
    assert verify_export(folder, strict=True)["added"] == []
    for _ in range(2):
        update_export(folder, export, force=False, dry_run=False)
        write_export(folder, export, force=True)
    assert {name: entry.kind for name, entry in list_files(folder).items()}.items() >= {
        ".git/fsmonitor--daemon.ipc": "socket",
        ".env": "named pipe",
    }.items()


READS = """
import sys
from pathlib import Path
from foundry.errors import FoundryError
from foundry.export.verify import verify_export
from foundry.export.write import check_target
folder = Path(sys.argv[1])
for act in (verify_export, lambda folder: check_target(folder, folder.parent)):
    try:
        act(folder)
    except FoundryError as error:
        print(error.message)
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("README.md", "a file that cannot be read"),
        ("acme", "a folder that cannot be read (Permission denied)"),
        ("notes.txt", "a file that cannot be read"),
    ],
)
def test_unreadable_files_are_named(name: str, said: str, made: tuple[Path, Export]) -> None:
    folder, _ = made
    if name == "notes.txt":
        (folder / name).touch()
    (folder / name).chmod(0)
    command = [*without_rights(), sys.executable, "-c", READS, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (folder / name).chmod(0o755)
    assert done.stderr == ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(f"  {name}: ")]
    assert len(lines) == 2 and all(line.endswith(said) for line in lines), done.stdout
