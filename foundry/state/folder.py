"""Opens the state of a project if this installation wrote it, and sets aside any other.

Foundry must be able to trust the state: it removes folders in it, serves its index and runs its
server. But a clone or an archive may contain somebody else's `.foundry`. So the index (its
manifest, which has the hashes of all files) and servers are signed. A signature is an HMAC of the
content and its path in the state, with the secret in the user's cache and a random number that the
state contains. Entries of a key-value file are signed with the secret and the file's name. A
signature of the state as a whole covers the files that git tracks in it, since a `git pull` can put
files into a trusted folder. Owners, modes and times are not signed, so a state stays trusted if it
is copied, moved, unpacked or handed over.

Unsigned folders (UNSIGNED) are only used in the folder that they were written to. That folder is
recognised by the inode and the change time of the file with the random number, since neither git
nor tar nor a copy can set these; if they differ, the folders are rebuilt.
"""

import errno
import hmac
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from shlex import quote

from foundry.errors import ForeignStateError
from foundry.files import sync_file
from foundry.runtime.index.tree import FILE, UNREADABLE, read_file, shown, walk
from foundry.state.user_cache import begin_cache_folder, read_secret

STATE = ".foundry"
SET_ASIDE = ".foundry.set-aside"
ANCHOR = "made-here"
PROOF = "made-here.proof"
PLACE = "made-here.place"

NUMBER_BYTES = 32
MAX_CODE_BYTES = 1_000

UNSIGNED = ("git", "handover")
"""Unsigned folders: copies of repositories, and caches of a build."""

IGNORED = (f"/{STATE}/", f"/{SET_ASIDE}/")
"""Entries of a project's .gitignore."""

_GIT_OPTIONS = ("-c", "core.fsmonitor=false", "-c", "safe.directory=*")
"""Git options: run no programs of a repository, and accept repositories of other users."""

RESTORED = "FOUNDRY_RESTORED_STATE"
"""The variable by which users vouch for a state restored from a cache or backup."""

RESTORED_FILES = ("documents.sqlite", "cache.sqlite", "web/pages.sqlite")
"""Files taken from a restored state: prepared documents, vectors and pages, with checksums."""


def open_state(root: Path) -> Path:
    """Return the folder of a project's state, which may not exist yet.

    Raises ForeignStateError, changing nothing, for a state that this installation did not write.
    """
    state = root / STATE
    if reason := _find_reason(state):
        raise ForeignStateError(
            f"{state}: {reason}, so it is not used",
            hint=f"build the project, which sets it aside: foundry build {quote(str(root))}",
        )
    return state


def begin_state(root: Path) -> Path:
    """Return the state, creating it if needed. Raises ForeignStateError like `open_state`."""
    state = open_state(root)
    if not (state / PROOF).exists():
        with _one_at_a_time():
            # Another process may have created the folder first.
            state = open_state(root)
            _mark(state)
    return state


def claim_state(root: Path, warn: Callable[[str, str], object]) -> Path:
    """Return the state for a build, setting aside one that this installation did not write.

    A foreign state is renamed, replacing any that was set aside earlier, and `warn` is called. If
    the user vouches for it, its data files are taken. Raises ForeignStateError if renaming fails.
    """
    with suppress(ForeignStateError):
        return begin_state(root)
    with _one_at_a_time():
        state = root / STATE
        if reason := _find_reason(state):
            aside = _set_aside(state)
            _mark(state)
            warn(*_replaced(state, reason, aside))
        _mark(state)
    return state


def settle_state(state: Path) -> None:
    """Delete unsigned folders and break hard links, unless the state was written in this folder.

    The caller holds the project's lock.
    """
    if is_signed(state, "place", _place_of(state), state / PLACE):
        return
    for name in UNSIGNED:
        shutil.rmtree(state / name, ignore_errors=True)
    _break_links(state)
    _write(state / PLACE, sign(state, "place", _place_of(state)))


def _replaced(state: Path, reason: str, aside: Path) -> tuple[str, str]:
    """Return a message and hint about a state set aside; take data from it if it is vouched for."""
    is_vouched = os.environ.get(RESTORED) == "1"
    taken = _take_over(aside, state) if is_vouched else []
    fate = f"taken over: {', '.join(taken)}" if taken else "not used"
    if taken:
        hint = f"delete {aside.name}: nothing else in it is useful"
    elif is_vouched:
        hint = f"delete {aside.name}: it contains no prepared documents, vectors or pages"
    else:
        hint = (
            f"delete {aside.name}; if it is yours (from a backup or a CI cache), you can instead"
            f" rename it to {STATE} and build once with {RESTORED}=1, which reuses its prepared"
            " documents, vectors and pages"
        )
    return f"{state}: {reason}; it is now {aside.name}, and {fate}", hint


def sign(state: Path, subject: str, content: bytes) -> str:
    """Return a signature that marks content in this state as written by this installation.

    `subject` names the content and its path. Raises OSError if the state has no random number.
    """
    key = hmac.digest(read_secret(), _read_number(state), "sha256")
    return hmac.digest(key, subject.encode() + b"\0" + content, "sha256").hex()


def is_signed(state: Path, subject: str, content: bytes, code: Path) -> bool:
    """Return whether the file `code` can be read and has the signature of this content."""
    try:
        written = read_file(code, MAX_CODE_BYTES)
        return hmac.compare_digest(written, sign(state, subject, content).encode())
    except OSError:
        return False


def find_links(folder: Path) -> Iterator[str]:
    """Yield the paths below a folder that are neither files nor folders."""
    return (shown(entry.path) for entry in walk(folder) if entry.kind not in (FILE, UNREADABLE))


def _find_reason(state: Path) -> str | None:
    """Return why a state must not be used; None if it is trusted, or there is none."""
    try:
        status = state.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return "is a link or a file, not a folder"
    if _is_unused(state):
        # The folder's owner could change its content at any time.
        return None if status.st_uid == os.geteuid() else "belongs to another user"
    tracked = _list_tracked(state)
    if not is_signed(state, "state", tracked, state / PROOF):
        return (
            "contains files that git tracks"
            if tracked
            else "was not written here by this installation"
        )
    if link := next(find_links(state), None):
        return f"contains a link or a special file, {link}"
    return None


def _is_unused(state: Path) -> bool:
    """Return whether a folder contains nothing except Foundry's markers."""
    return {path.name for path in state.iterdir()} <= {ANCHOR, PROOF, PLACE}


def _mark(state: Path) -> None:
    """Create the folder if needed, and sign it if it is empty and not signed yet."""
    state.mkdir(exist_ok=True)
    tracked = _list_tracked(state)
    if not _is_unused(state) or is_signed(state, "state", tracked, state / PROOF):
        return
    _write(state / ANCHOR, os.urandom(NUMBER_BYTES).hex())
    _write(state / PROOF, sign(state, "state", tracked))
    _write(state / PLACE, sign(state, "place", _place_of(state)))


def _write(file: Path, content: str) -> None:
    file.unlink(missing_ok=True)
    with file.open("x", encoding="ascii") as stream:
        stream.write(content)
    sync_file(file)


def _read_number(state: Path) -> bytes:
    """Return the random number of a state. Raises OSError if there is none."""
    number = read_file(state / ANCHOR, MAX_CODE_BYTES)
    if len(number) != 2 * NUMBER_BYTES:
        raise OSError(errno.EINVAL, "has no random number", str(state / ANCHOR))
    return number


def _place_of(state: Path) -> bytes:
    status = (state / ANCHOR).lstat()
    # The device is left out, because its number changes when a disk is mounted again.
    return f"{status.st_ino} {status.st_ctime_ns}".encode()


def _break_links(state: Path) -> None:
    """Copy each file that has other hard links, so that changes to it do not change the others.

    Files of indexes and servers are never changed, so they may stay linked, and so may the lock.
    """
    for entry in walk(state, ("index", "server")):
        file = state / entry.path
        is_lock = file.name == "lock" or file.suffix == ".lock"
        if entry.kind == FILE and not is_lock and file.lstat().st_nlink > 1:
            own = file.with_name(f"{file.name}.own")
            shutil.copy2(file, own)
            own.replace(file)


def _list_tracked(state: Path) -> bytes:
    """Return names and hashes of the files that git tracks in a state; empty without git."""
    if not any((folder / ".git").exists() for folder in state.absolute().parents):
        return b""
    command = ["git", *_GIT_OPTIONS, "ls-files", "-z", "--stage", "--", f":(icase){state.name}"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        # Git must not contact a server: in a partial clone, it would fetch missing objects.
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
    """Rename a state, replacing any that was set aside earlier. Raises ForeignStateError."""
    aside = state.with_name(SET_ASIDE)
    try:
        if aside.is_dir() and not aside.is_symlink():
            shutil.rmtree(aside)
        else:
            aside.unlink(missing_ok=True)
        return state.rename(aside)
    except (OSError, RecursionError) as error:
        raise ForeignStateError(
            f"{aside}: cannot be replaced: {error}", hint=f"delete {aside.name}"
        ) from None


def _take_over(aside: Path, state: Path) -> list[str]:
    """Move the data files to `state`, unless they are links; return the names of readable ones."""
    from foundry.state.key_value import adopt_file  # Not needed for queries, like `FileLock`.

    taken = []
    for name in RESTORED_FILES:
        if _is_plain(aside, name):
            (state / name).parent.mkdir(mode=0o700, exist_ok=True)
            for end in ("-wal", ""):
                if _is_plain(aside, name + end):
                    (aside / (name + end)).rename(state / (name + end))
            if adopt_file(state / name):
                taken.append(name)
    return taken


def _is_plain(folder: Path, name: str) -> bool:
    """Return whether a folder has a regular file of this user, without links on the path."""
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


def _one_at_a_time() -> AbstractContextManager[object]:
    """Return a lock that prevents two commands from creating or setting aside a state at once."""
    from filelock import FileLock

    return FileLock(begin_cache_folder() / "state.lock")
