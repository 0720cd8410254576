"""Opens the state of a project, if this installation wrote it; sets aside what came from elsewhere.

A clone or an archive may bring a `.foundry` along. What is in ours is trusted: folders in it are
removed, its index is served, its server is run. So it proves where it is from. An empty file in it,
the anchor, was made here once and is never touched again; its inode and the time of its last change
are known to the file system alone, and neither git nor tar, nor a copy, can set them. The proof is
a code (HMAC) over them by the secret in the user's cache. So it holds for one folder, however that
is moved or renamed, and for no copy of it. It is also over what git tracks there, since a `git
pull` can put files into a folder that is ours. What is run or served is signed in the same way.
"""

import hmac
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from shlex import quote

from filelock import FileLock

from foundry.errors import ForeignStateError
from foundry.files import sync_file
from foundry.runtime.index.tree import FILE, UNREADABLE, shown, walk
from foundry.state.user_cache import begin_cache_folder, read_secret

STATE = ".foundry"
ANCHOR = "made-here"
PROOF = "made-here.proof"

_GIT_OPTIONS = ("-c", "core.fsmonitor=false", "-c", "safe.directory=*")
"""They run no program that a repository names, and allow one that another user owns."""

RESTORED = "FOUNDRY_RESTORED_STATE"
"""The variable by which the user vouches for a state that was restored from a cache or backup."""

RESTORED_FILES = ("documents.sqlite", "cache.sqlite", "web/pages.sqlite")
"""What is taken from it: prepared documents, vectors and pages, each entry with a checksum."""


def open_state(root: Path) -> Path:
    """Return the folder of a project's state, which need not exist yet.

    Raises ForeignStateError, changing nothing, unless this installation wrote it.
    """
    state = root / STATE
    if reason := _find_reason(state):
        raise ForeignStateError(
            f"{state}: {reason}, so it is not used",
            hint=f"build the project, which sets it aside: foundry build {quote(str(root))}",
        )
    return state


def begin_state(root: Path) -> Path:
    """Return the state, made if there is none. Raises ForeignStateError as `open_state` does."""
    state = open_state(root)
    if not (state / PROOF).exists():
        with _one_at_a_time():
            # Another process may have been first.
            state = open_state(root)
            _mark(state)
    return state


def claim_state(root: Path, warn: Callable[[str, str], object]) -> Path:
    """Return the state for a build, which sets aside what this installation did not write.

    A foreign state is renamed, never deleted, and `warn` is told of it. If the user vouches for it,
    files of data are taken over from it.
    """
    try:
        return begin_state(root)
    except ForeignStateError:
        pass
    with _one_at_a_time():
        state = root / STATE
        if reason := _find_reason(state):
            aside = _set_aside(state)
            _mark(state)
            taken = _take_over(aside, state) if os.environ.get(RESTORED) == "1" else []
            fate = f"taken over: {', '.join(taken)}" if taken else "not used"
            warn(
                f"{state}: {reason}; it is now {aside.name}, and {fate}",
                "delete it, or, to keep what it holds of prepared documents, vectors and pages, put"
                f" it back and build once with {RESTORED}=1",
            )
        _mark(state)
    return state


def sign(state: Path, subject: str, content: bytes) -> str:
    """Return a code by which this installation knows what it has put into this state.

    Raises OSError if the state has no anchor.
    """
    status = (state / ANCHOR).lstat()
    place = f"{status.st_ino} {status.st_ctime_ns}"
    key = hmac.digest(read_secret(), place.encode(), "sha256")
    return hmac.digest(key, subject.encode() + b"\0" + content, "sha256").hex()


def is_signed(state: Path, subject: str, content: bytes, code: Path) -> bool:
    """Return whether a file holds the code of this content."""
    try:
        return hmac.compare_digest(code.read_bytes(), sign(state, subject, content).encode())
    except OSError:
        return False


def find_links(folder: Path) -> Iterator[str]:
    """Yield the paths of what is neither a file nor a folder in a folder, or in any below it."""
    return (shown(entry.path) for entry in walk(folder) if entry.kind not in (FILE, UNREADABLE))


def _find_reason(state: Path) -> str | None:
    """Return why a state is not to be used; None if it is ours, or there is none."""
    try:
        status = state.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return "is no folder but a link or a file"
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if _is_unused(state):
        return None
    tracked = _list_tracked(state)
    if not is_signed(state, "state", tracked, state / PROOF):
        return (
            "holds files that git tracks"
            if tracked
            else "was not written here by this installation"
        )
    if link := next(find_links(state), None):
        return f"holds a link or a special file, {link}"
    return None


def _is_unused(state: Path) -> bool:
    """Return whether a folder holds nothing but what marks it."""
    return {path.name for path in state.iterdir()} <= {ANCHOR, PROOF}


def _mark(state: Path) -> None:
    """Make the folder if there is none, and sign it unless it is signed."""
    state.mkdir(exist_ok=True)
    tracked = _list_tracked(state)
    if not _is_unused(state) or is_signed(state, "state", tracked, state / PROOF):
        return
    anchor = state / ANCHOR
    anchor.unlink(missing_ok=True)
    anchor.touch(exist_ok=False)
    proof = state / PROOF
    proof.unlink(missing_ok=True)
    proof.write_text(sign(state, "state", tracked), encoding="ascii")
    sync_file(proof)


def _list_tracked(state: Path) -> bytes:
    """Return the names and hashes of the files that git tracks in a state; nothing without git."""
    if not any((folder / ".git").exists() for folder in state.absolute().parents):
        return b""
    command = ["git", *_GIT_OPTIONS, "ls-files", "-z", "--stage", "--", f":(icase){state.name}"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        # From no server: a partial clone would be asked for what it lacks.
        done = subprocess.run(
            command,
            cwd=state.parent,
            env={**own, "GIT_ALLOW_PROTOCOL": "none"},
            capture_output=True,
            check=False,
        )
    except OSError:
        return b""
    return done.stdout


def _set_aside(state: Path) -> Path:
    names = (state.with_name(f"{STATE}.set-aside-{number}") for number in count(1))
    aside = next(name for name in names if not os.path.lexists(name))
    return state.rename(aside)


def _take_over(aside: Path, state: Path) -> list[str]:
    """Move files of data; returns the names of those that were there and are no links."""
    taken = []
    for name in RESTORED_FILES:
        if _is_plain(aside, name):
            (state / name).parent.mkdir(mode=0o700, exist_ok=True)
            for end in ("-wal", ""):
                if _is_plain(aside, name + end):
                    (aside / (name + end)).rename(state / (name + end))
            taken.append(name)
    return taken


def _is_plain(folder: Path, name: str) -> bool:
    """Return whether a file of this user's lies in a folder, with no link on the way to it."""
    path = folder / name
    on_the_way = [each for each in path.parents if each.is_relative_to(folder)]
    try:
        status = path.lstat()
        return (
            all(stat.S_ISDIR(each.lstat().st_mode) for each in on_the_way)
            and stat.S_ISREG(status.st_mode)
            and status.st_nlink == 1
            and status.st_uid == os.geteuid()
        )
    except (FileNotFoundError, NotADirectoryError):
        return False


def _one_at_a_time() -> FileLock:
    """Return a lock that keeps two commands from making a state, or setting one aside, at once."""
    return FileLock(begin_cache_folder() / "state.lock")
