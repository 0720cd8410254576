"""Surveys a source before anything is built.

Every file is counted by name, but only some are opened, so a survey of a large folder takes
seconds. A website is not contacted.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from foundry.config.sources import FolderSource, resolve
from foundry.config.suggestions import private_hosts_of, suggest
from foundry.documents import Document, RawDocument, Skipped
from foundry.errors import FoundryError
from foundry.files import CONFIG_NAME
from foundry.inspection.languages import vote
from foundry.inspection.survey import Format, Survey
from foundry.readers.contract import FileReader
from foundry.readers.registry import find_by_name
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart
from foundry.readers.sniffing import PICTURES, binary_kind
from foundry.runtime.index.names import indexed_name
from foundry.sources import folder, tables
from foundry.sources.versions import recognise_versions

FILES_READ = 40
"""Maximum number of files that are read as samples."""

FILES_PARSED = 4
"""Maximum number of samples that need a parser, such as PDFs; read if there are fewer others."""

UNNAMED_OPENED = 1_000
"""Number of files with unknown extensions whose first bytes are checked for text."""

SNIFFED_BYTES = 8192
MAX_BYTES = 2_000_000
"""Larger files are not sampled for their language."""

ROWS_READ = 200
KEYS_SHOWN = 8

_READ_ANYWAY = frozenset(
    "title tags keywords alias aliases modified updated last_modified last_updated lastmod date"
    " language licence license".split()
)
"""Front matter keys that readers use for something other than metadata."""

_TEXT_MAY_BE = ("text", "body", "content", "passage", "description", "abstract", "answer")
_TITLE_MAY_BE = ("title", "name", "subject", "headline", "question")
_URL_MAY_BE = ("url", "link", "href", "permalink")
_ID_MAY_BE = ("id", "_id", "key", "uuid", "slug", "number")
_SHORT_VALUE = re.compile(r"[^\s.,]{1,64}")
"""No prose, and no decimal number."""

_NO_PROSE = ("code", "json", "yaml", "toml", "xml", "sheets", "notebook")


def survey(project: Path, written: str) -> Survey:
    """Survey the source of a new project: a url, or the path of a folder or a table.

    Raises FoundryError if a path does not exist, a url is invalid, a folder has no file to index,
    or the project already has a foundry.toml; raises OSError if a table cannot be read.
    """
    file = project / CONFIG_NAME
    if file.exists():
        raise FoundryError(f"{file}: exists already", hint="edit it, or choose another folder")
    if project.exists() and not project.is_dir():
        hint = "name the folder of the new project; --source names what to index"
        raise FoundryError(f"{project}: is not a folder", hint=hint)
    settings = suggest(written, project)
    root = project.resolve()
    if settings["type"] == "records":
        return _survey_table(written, settings, Path(written))
    if settings["type"] != "folder":
        return Survey(settings, written, allow_private=private_hosts_of(written))
    (source,) = resolve((FolderSource.model_validate(settings),), root, root.name)
    assert isinstance(source, FolderSource)
    return _survey_folder(written, settings, source)


def _survey_folder(written: str, settings: Mapping[str, object], source: FolderSource) -> Survey:
    paths: list[str] = []
    skipped: Counter[str] = Counter()
    for each in folder.look(source):
        if isinstance(each, Skipped):
            skipped[each.reason] += 1
        else:
            paths.append(each.key)
    if not paths:
        left_out = [f"  {count:>6,}  {reason}" for reason, count in skipped.most_common()]
        raise FoundryError(
            "\n".join([f"{written}: has no file to index", *left_out]),
            hint="put documents there first, or name another folder, a table or a url",
        )
    documents = list(_read_some(paths, source))
    keys = Counter(
        name
        for each in documents
        if each.reading.body_start
        for name in each.reading.metadata
        if name.isprintable()
    )
    votes = vote(each.reading.text[each.reading.body_start :] for each in documents)
    return Survey(
        settings,
        written,
        formats=_count_formats(paths, source.path),
        skipped=dict(skipped.most_common()),
        read=len(documents),
        language=votes[0],
        language_votes=votes[1],
        with_front_matter=sum(each.reading.body_start > 0 for each in documents),
        keys=[name for name, _ in keys.most_common(KEYS_SHOWN)],
        metadata=[name for name, _ in keys.most_common() if name.lower() not in _READ_ANYWAY],
        versions=recognise_versions(source, paths),
    )


def _count_formats(paths: Iterable[str], root: Path) -> list[Format]:
    found: Counter[tuple[str, bool, str, bool, bool]] = Counter()
    opened = 0
    for path in paths:
        ending = PurePosixPath(path).suffix.lower() or "without an extension"
        named = find_by_name(path)
        if named is None:
            begun = _read(root, path, SNIFFED_BYTES) if opened < UNNAMED_OPENED else None
            kind = binary_kind(begun or b"")
            opened += 1
            found[ending, kind is None, "", kind in PICTURES, kind is None] += 1
            continue
        reader = named[0]
        parser = reader if isinstance(reader, FileReader) else reader.outline
        lacking = parser.extra if parser is not None and not parser.is_installed() else ""
        found[ending, not (lacking and parser is reader), lacking, False, False] += 1
    return [Format(each[0], count, *each[1:]) for each, count in found.most_common()]


def _read(root: Path, path: str, most: int) -> bytes | None:
    """Return the first bytes of a file, up to `most`; None if it cannot be read."""
    try:
        with (root / os.fsdecode(path.encode("utf-8", "surrogateescape"))).open("rb") as stream:
            return stream.read(most)
    except OSError:
        return None


def _read_some(paths: Sequence[str], source: FolderSource) -> Iterable[Document]:
    """Read samples of prose from all over the folder; parsers are used if there are few others."""
    plain, parsed = [], []
    for path in paths:
        named = find_by_name(path)
        if named is None or named[0].version.startswith(_NO_PROSE):
            continue
        if isinstance(named[0], FileReader):
            parsed += [path] if named[0].is_installed() else []
        else:
            plain.append(path)
    chosen = _spread(plain, FILES_READ)
    if len(chosen) < FILES_PARSED:
        chosen += _spread(parsed, FILES_PARSED)
    with Sandbox() as sandbox:
        for path in chosen:
            content = _read(source.path, path, MAX_BYTES + 1)
            if content is not None and len(content) <= MAX_BYTES:
                raw = RawDocument(source.name, path, indexed_name(path), content)
                document = read_apart(raw, sandbox)
                if isinstance(document, Document):
                    yield document


def _spread(paths: Sequence[str], count: int) -> list[str]:
    step = max(len(paths) / count, 1)
    return [paths[int(number * step)] for number in range(min(count, len(paths)))]


def _survey_table(written: str, settings: Mapping[str, object], path: Path) -> Survey:
    with closing(tables.read_rows(path)) as found:
        rows = [row.values for row in islice(found, ROWS_READ) if isinstance(row, tables.Row)]
    columns = list(dict.fromkeys(name for row in rows for name in row if name.isprintable()))
    chosen = {
        key: column
        for key, candidates in (
            ("id", _ID_MAY_BE),
            ("title", _TITLE_MAY_BE),
            ("text", _TEXT_MAY_BE),
            ("url", _URL_MAY_BE),
        )
        if (column := next((name for name in candidates if name in columns), None))
    }
    if "id" not in chosen and (own := _find_own_values(columns, rows)):
        chosen = {"id": own, **chosen}
    texts = [str(row.get(chosen.get("text", ""), "")) for row in rows]
    language, votes = vote(texts)
    # A column `_id` is detected by default.
    usual = {"id": "_id"}
    named = {key: column for key, column in chosen.items() if column not in (key, usual.get(key))}
    return Survey(
        {**settings, **named},
        written,
        columns=columns,
        chosen=chosen,
        read=len(rows),
        language=language,
        language_votes=votes,
        metadata=[name for name in columns if name not in {*chosen.values(), "modified", "tags"}],
    )


def _find_own_values(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the first column with a different short value in each row, such as a part number."""
    for name in columns:
        values = {str(row.get(name)) for row in rows}
        if len(values) == len(rows) > 1 and all(map(_SHORT_VALUE.fullmatch, values)):
            return name
    return None
