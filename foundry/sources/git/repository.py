"""A bare copy of a git repository: commits are fetched into it, and files are read from it.

Nothing is checked out, so a repository's hooks, filters, submodules and symbolic links are not
used. Contents are fetched on demand if the server supports partial clones; for earlier commits,
only names and dates are fetched.

Git uses the user's configuration and the options given here. The copy's own configuration is
overwritten before each use.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from foundry.errors import FoundryError
from foundry.files import replace_file

SLOWEST_BYTES_PER_SECOND = 1_000
LONGEST_SLOW_SECONDS = 60

_INHERITED = ("GIT_SSL", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
_PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy"})
# A prompt would wait for input forever.
_ENVIRONMENT = {
    "GIT_ASKPASS": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "SSH_ASKPASS_REQUIRE": "never",
}
_OPTIONS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.lowSpeedLimit": str(SLOWEST_BYTES_PER_SECOND),
    "http.lowSpeedTime": str(LONGEST_SLOW_SECONDS),
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "promisor.acceptFromServer": "none",
    "protocol.version": "2",
    "transfer.bundleURI": "false",
}
_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
_NOT_OURS = (
    *("commondir", "config.worktree", "hooks", "info", "modules", "worktrees"),
    *("objects/info/alternates", "objects/info/http-alternates"),
)
"""Files that could add configuration, programs or objects to a copy."""


class GitError(FoundryError):
    """Git is not installed, or a command failed."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """An entry of a commit: `mode` as git writes it, `blob` the id of its content."""

    mode: str
    blob: str
    path: bytes


@dataclass(frozen=True, slots=True)
class Change:
    """The commit that last changed a file, and its date (YYYY-MM-DD) if that is valid."""

    commit: str
    date: str | None


@dataclass(frozen=True, slots=True)
class Remote:
    """The repository that is copied: its url, with the relay's port, or its path."""

    url: str
    relay_port: int | None

    def options(self) -> dict[str, str]:
        """Return git's options for it."""
        options = {
            "remote.origin.url": self.url,
            "remote.origin.promisor": "true",
            "remote.origin.partialclonefilter": "blob:none",
        }
        if self.relay_port is not None:
            relay = f"socks5h://127.0.0.1:{self.relay_port}"
            # `remote.origin.proxy` overrides the user's settings for single hosts.
            options |= {"http.proxy": relay, "remote.origin.proxy": relay}
        return options

    def variables(self, ssh: str) -> dict[str, str]:
        """Return the environment for git; `ssh` is the user's ssh command."""
        if self.relay_port is None:
            return {"GIT_ALLOW_PROTOCOL": "file"}
        from foundry.fetching.relay import THROUGH_RELAY

        begin = shlex.join([sys.executable, "-I", "-S", str(THROUGH_RELAY), str(self.relay_port)])
        through = f"ProxyCommand={begin.replace('%', '%%')} %h %p"
        return {
            "GIT_ALLOW_PROTOCOL": "http:https:ssh",
            "GIT_SSH_COMMAND": f"{ssh} -o {shlex.quote(through)}",
        }


class BareRepository:
    """The bare copy in `folder`, with `remote` as its origin. Every method raises GitError."""

    def __init__(self, folder: Path, remote: Remote | None = None) -> None:
        self.folder = folder
        self._remote = remote

    def fetch(self, refs: Sequence[str], *, history: bool) -> list[str]:
        """Fetch branches, tags or commits of the origin; return the commit ids.

        With `history`, earlier commits are fetched too, without their files.
        """
        names = [f"refs/foundry/{number}" for number in range(len(refs))]
        wanted = [f"+{ref}:{name}" for ref, name in zip(refs, names, strict=True)]
        depth = () if history else ("--depth=1",)
        self._run("fetch", "--quiet", "--no-tags", "--filter=blob:none", *depth, "origin", *wanted)
        commits = (self._run("rev-parse", f"{name}^{{commit}}") for name in names)
        return [commit.decode().strip() for commit in commits]

    def fetch_blobs(self, commits: Iterable[str], wanted: set[str]) -> int:
        """Fetch the `wanted` blobs of these commits that the copy lacks; return their number."""
        trees = [f"{commit}^{{tree}}" for commit in commits]
        listing = ("rev-list", "--objects", "--no-object-names", "--missing=print")
        listed = self._run(*listing, *trees).decode().split()
        missing = wanted.intersection(line[1:] for line in listed if line.startswith("?"))
        if missing:
            self._run(
                *("-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags"),
                *("--no-write-fetch-head", "--filter=blob:none", "--stdin", "origin"),
                stdin=_lines(sorted(missing)),
            )
        return len(missing)

    def entries(self, commit: str) -> Iterator[TreeEntry]:
        """Yield a commit's files, symbolic links and submodules, in byte order of paths."""
        for line in self._run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
            described, _, path = line.partition(b"\t")
            mode, _, blob = described.decode().split()
            yield TreeEntry(mode, blob, path)

    def last_changes(self, commit: str) -> dict[bytes, Change]:
        """Return the last change of each path, up to `commit`.

        A merge commit counts as the last change of everything that it added to its first parent.
        """
        first_parents = ("--first-parent", "-m", "--no-renames", "--name-only")
        listed = self._run("log", *first_parents, "-z", "--format=%x01%H %ct", commit)
        changes: dict[bytes, Change] = {}
        change = Change(commit, None)
        for part in listed.split(b"\0"):
            if part.startswith(b"\x01"):
                name, _, seconds = part[1:].decode("ascii", "replace").partition(" ")
                change = Change(name, _to_date(seconds))
            elif part:
                changes.setdefault(part.removeprefix(b"\n"), change)
        return changes

    def sizes(self, blobs: Iterable[str]) -> dict[str, int]:
        """Return the sizes in bytes of the blobs in the copy."""
        told = self._run("cat-file", "--batch-check", stdin=_lines(blobs)).decode().splitlines()
        fields = (line.split() for line in told)
        return {one[0]: int(one[2]) for one in fields if len(one) == 3 and one[1] == "blob"}

    def contents(self, blobs: Iterable[str], sizes: Mapping[str, int]) -> Iterator[bytes]:
        """Yield the contents of blobs of known sizes, one in memory at a time."""
        with subprocess.Popen(
            self._command("cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment,
            start_new_session=True,
        ) as process:
            assert process.stdin and process.stdout
            try:
                for blob in blobs:
                    process.stdin.write(_lines([blob]))
                    process.stdin.flush()
                    process.stdout.readline()
                    yield process.stdout.read(sizes[blob])
                    process.stdout.read(1)
            finally:
                process.kill()

    @cached_property
    def _environment(self) -> dict[str, str]:
        _make_ours(self.folder)
        environment = _inherit() | _ENVIRONMENT
        return environment | (self._remote.variables(_find_ssh()) if self._remote else {})

    def _command(self, *arguments: str) -> list[str]:
        program = shutil.which("git")
        if program is None:
            raise GitError("git is not installed", hint="install git, or remove the source")
        chosen = _OPTIONS | (self._remote.options() if self._remote else {})
        options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
        return [program, f"--git-dir={self.folder}", *options, *arguments]

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            self._command(*arguments),
            input=stdin,
            capture_output=True,
            env=self._environment,
            # Without a terminal, ssh cannot ask for a password.
            start_new_session=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise GitError(said[-1][:300] if said else f"git ended with {done.returncode}")
        return done.stdout


def _inherit() -> dict[str, str]:
    # If a git hook starts the build, these variables point to the hook's repository.
    return {
        name: value
        for name, value in os.environ.items()
        if (not name.startswith("GIT_") or name.startswith(_INHERITED))
        and name.lower() not in _PROXIES
    }


def _make_ours(folder: Path) -> None:
    """Create an empty copy if there is none, and remove configuration from an existing one."""
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in _NOT_OURS:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    replace_file(folder / "config", _CONFIG)
    (folder / "HEAD").write_bytes(b"ref: refs/heads/main\n")


def _find_ssh() -> str:
    """Return the shell command that the user configured for ssh."""
    if command := os.environ.get("GIT_SSH_COMMAND"):
        return command
    asked = ["git", "config", "--global", "--includes", "--get", "core.sshCommand"]
    done = subprocess.run(asked, capture_output=True, env=_inherit(), text=True, check=False)
    return done.stdout.strip() or shlex.quote(os.environ.get("GIT_SSH") or "ssh")


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def _to_date(seconds: str) -> str | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None
