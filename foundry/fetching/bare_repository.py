"""A bare copy of a git repository: commits are fetched into it, and files are read out of it.

Nothing is ever checked out, so hooks, filters, submodules and symbolic links of a repository are
neither followed nor run. Contents are fetched when they are wanted, if the server of the repository
supports partial clones; of earlier commits, only names and dates.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from foundry.errors import FoundryError

SLOWEST_BYTES_PER_SECOND = 1_000
LONGEST_SLOW_SECONDS = 60

_INHERITED = ("GIT_SSH", "GIT_SSL", "GIT_PROXY", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
# A prompt would wait for somebody who is not there.
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_ASKPASS": "",
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
    "protocol.version": "2",
}


class GitError(FoundryError):
    """Git is not installed, or could not do what was asked."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A name in a commit: `mode` as git writes it, `blob` the id of its content."""

    mode: str
    blob: str
    path: bytes


@dataclass(frozen=True, slots=True)
class Change:
    """The commit that last changed a file, and its date (YYYY-MM-DD) if it has a possible one."""

    commit: str
    date: str | None


class BareRepository:
    """The bare copy in `folder`. Every method raises GitError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fetch(self, url: str, refs: Sequence[str], *, history: bool) -> list[str]:
        """Fetch branches, tags or commits of a repository; return the ids of their commits.

        With `history`, the commits before them come as well, but not their files.
        """
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self._run("init", "--quiet", "--bare", "--template=")
        remote = {"url": url, "promisor": "true", "partialclonefilter": "blob:none"}
        for name, value in remote.items():
            self._run("config", f"remote.origin.{name}", value)
        names = [f"refs/foundry/{number}" for number in range(len(refs))]
        wanted = [f"+{ref}:{name}" for ref, name in zip(refs, names, strict=True)]
        depth = () if history else ("--depth=1",)
        self._run("fetch", "--quiet", "--no-tags", "--filter=blob:none", *depth, "origin", *wanted)
        commits = (self._run("rev-parse", f"{name}^{{commit}}") for name in names)
        return [commit.decode().strip() for commit in commits]

    def fetch_blobs(self, commits: Iterable[str], wanted: set[str]) -> int:
        """Fetch what is missing of the wanted contents of some commits; return how many were."""
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
        """Yield what a commit holds, in the order of the paths' bytes; folders are not named."""
        for line in self._run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
            described, _, path = line.partition(b"\t")
            mode, _, blob = described.decode().split()
            yield TreeEntry(mode, blob, path)

    def last_changes(self, commit: str) -> dict[bytes, Change]:
        """Return for each path the last commit that changed it on the way to `commit`.

        Of a merge, what it brought to its first parent counts as its own.
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
        """Return the bytes of each content that is in the copy."""
        told = self._run("cat-file", "--batch-check", stdin=_lines(blobs)).decode().splitlines()
        fields = (line.split() for line in told)
        return {one[0]: int(one[2]) for one in fields if len(one) == 3 and one[1] == "blob"}

    def contents(self, blobs: Iterable[str], sizes: Mapping[str, int]) -> Iterator[bytes]:
        """Yield contents whose sizes in bytes are known, one in memory at a time."""
        with subprocess.Popen(
            self._command("cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
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
                process.stdin.close()
                process.kill()

    def _command(self, *arguments: str) -> list[str]:
        program = shutil.which("git")
        if program is None:
            raise GitError("git is not installed", hint="install git, or remove the source")
        options = [part for name, value in _OPTIONS.items() for part in ("-c", f"{name}={value}")]
        return [program, f"--git-dir={self.folder}", *options, *arguments]

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            self._command(*arguments),
            input=stdin,
            capture_output=True,
            env=_environment(),
            # Without a terminal, ssh has nobody to ask for a password.
            start_new_session=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise GitError(said[-1][:300] if said else f"git ended with {done.returncode}")
        return done.stdout


def _environment() -> dict[str, str]:
    # A build that a hook of git starts is told of the hook's repository by further variables.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_INHERITED)
    }
    return inherited | _ENVIRONMENT


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def _to_date(seconds: str) -> str | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None
