"""Remembers the server of the last query, so that the next one need not read the configuration.

The record has the stamps of all relevant files: the configuration, the index, the server, and
Foundry's own files. The record is signed like the rest of a project's state: see
`foundry.state.folder`. Nothing is recorded if the configuration names other files.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import foundry
from foundry.errors import FoundryError
from foundry.files import CONFIG_NAME, replace_file, templates_folder
from foundry.runtime.index.tree import read_file
from foundry.state.folder import is_signed, open_state, sign
from foundry.state.stamps import lasting_stamp, stamp_of

NOTE, CODE = "asked.json", "asked.code"
MAX_NOTE_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Answering:
    """A project's server: its folder, the folder of all index versions, its package and name.

    `has_modes` is whether it supports search modes other than keywords.
    """

    server: Path
    indexes: Path
    package: str
    name: str
    has_modes: bool


def recall(project: Path) -> Answering | None:
    """Return the server of the last query, if it is still up to date; None if in doubt."""
    try:
        state = open_state(project.resolve())
        content = read_file(state / NOTE, MAX_NOTE_BYTES)
        if not is_signed(state, NOTE, content, state / CODE):
            return None
        note = json.loads(content)
        if note["stamps"] != _stamps(state, state / note["server"]):
            return None
        server, indexes = state / note.pop("server"), state / note.pop("indexes")
        del note["stamps"]
        return Answering(server, indexes, **note)
    except (OSError, ValueError, LookupError, TypeError, FoundryError):
        return None


def remember(state: Path, answering: Answering) -> None:
    """Record the server of a query, unless a file has just changed or the folder is read-only."""
    try:
        latest = (state.parent / CONFIG_NAME, answering.indexes / "CURRENT")
        if not all(lasting_stamp(path.stat()) for path in latest):
            return
        note = {
            **asdict(answering),
            "server": answering.server.relative_to(state).as_posix(),
            "indexes": answering.indexes.relative_to(state).as_posix(),
            "stamps": _stamps(state, answering.server),
        }
        content = json.dumps(note).encode()
        replace_file(state / CODE, sign(state, NOTE, content).encode())
        replace_file(state / NOTE, content)
    except (OSError, ValueError):
        return


def _stamps(state: Path, server: Path) -> str:
    """Return a hash of the names and stamps of all files that decide how a query is answered."""
    digest = hashlib.sha256()
    for path in _deciding(state, server):
        digest.update(f"{path}\0{stamp_of(os.lstat(path))}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _deciding(state: Path, server: Path) -> Iterator[str]:
    yield str(state.parent / CONFIG_NAME)
    code = Path(foundry.__file__).parent
    for root in (state / "index", server, *dict.fromkeys((code, templates_folder()))):
        for folder, inside, names in os.walk(root, onerror=_refuse):
            inside[:] = sorted(name for name in inside if name != "__pycache__")
            yield from (f"{folder}/{name}" for name in sorted(names))


def _refuse(error: OSError) -> None:
    raise error
