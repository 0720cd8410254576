"""The findings of surveying a source, and their description."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from foundry.documents.reasons import Reason
from foundry.errors import install_command
from foundry.sources.names import INCLUDING_SECRETS
from foundry.sources.versions import describe_versions
from foundry.terminal import count_of

FORMATS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Format:
    """Files with one extension.

    `extra` is the extra of Foundry that is needed to read them; if they are `is_readable`
    anyway, it finds more in them. `is_plain` is whether they are read as plain text because no
    reader knows the extension.
    """

    ending: str
    files: int
    is_readable: bool = True
    extra: str = ""
    is_picture: bool = False
    is_plain: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """The findings of a survey of a source.

    `settings` is what foundry.toml will contain about it, `skipped` counts files by reason. `read`
    is how many documents were read; `language` is the most frequent language among them, recognised
    in `language_votes` of them. `chosen` are the columns of a table that are read, by the key that
    names them. `keys` are the front matter keys, the most frequent first;
    `metadata` are the keys, or the columns of a table, that are only kept if foundry.toml names
    them. `versions` are folders of versions, newest first. `allow_private` has the host of a url,
    if it seems to be private.
    """

    settings: Mapping[str, object]
    written: str
    formats: Sequence[Format] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    columns: Sequence[str] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    read: int = 0
    language: str | None = None
    language_votes: int = 0
    with_front_matter: int = 0
    keys: Sequence[str] = ()
    metadata: Sequence[str] = ()
    versions: Sequence[str] = ()
    allow_private: Sequence[str] = ()

    def describe(self) -> list[str]:
        """Return the findings as lines of text."""
        if self.settings["type"] == "git":
            return [
                f"{self.written}: a git repository, which is not contacted before the first build"
            ]
        if "url" in self.settings and "path" not in self.settings:
            return [f"{self.written}: a website, which is not contacted before the first build"]
        lines = [self._headline(), *self._format_lines()]
        if self.language:
            lines.append(f"language: {self.language} ({self.language_votes} of {self.read} read)")
        elif self.read:
            lines.append("language: not recognised, english is assumed")
        lines += self._column_lines()
        if self.with_front_matter:
            keys = f": {', '.join(self.keys)}" if self.keys else ""
            lines.append(f"front matter in {self.with_front_matter} of {self.read} read{keys}")
        if self.versions:
            undo = "foundry.toml lists them in [search.versions]: remove the table to undo it"
            lines.append(f"{describe_versions(self.versions)}; {undo}")
        return lines

    def _headline(self) -> str:
        if self.settings["type"] == "records":
            columns = (
                f"with the columns {', '.join(self.columns)}" if self.columns else "of no rows"
            )
            return f"{self.written}: a table {columns}"
        files = sum(each.files for each in self.formats)
        readable = sum(each.files for each in self.formats if each.is_readable)
        return f"{self.written}: {count_of(files, 'file')}, of which {readable:,} can be read"

    def _column_lines(self) -> Iterator[str]:
        """Yield which columns are read as what, and which are not kept."""
        if self.chosen:
            yield ", ".join(f"{key}: column {name}" for key, name in self.chosen.items())
        for key in ("id", "text"):
            if self.columns and key not in self.chosen:
                yield f"no column looks like the {key}: name it in foundry.toml"
        if self.columns and self.metadata:
            names = ", ".join(self.metadata)
            yield (
                f"not kept: {names}; to keep a column, name it in metadata,"
                " and to filter by it also in [search] filterable"
            )

    def _format_lines(self) -> list[str]:
        lines = []
        for each in self.formats[:FORMATS_SHOWN]:
            said = f"{each.files:>8,}  {each.ending}"
            if each.extra:
                does = "finds more in" if each.is_readable else "reads"
                said += f"  ({install_command(each.extra)} {does} them)"
            elif each.is_picture:
                said += f"  (pictures: read with ocr = true, and {install_command('ocr')})"
            elif not each.is_readable:
                said += "  (not text)"
            elif each.is_plain:
                said += "  (read as plain text)"
            lines.append(said)
        if others := self.formats[FORMATS_SHOWN:]:
            files = sum(each.files for each in others)
            lines.append(f"{files:>8,}  in {count_of(len(others), 'other format')}")
        if self.skipped:
            reasons = (f"{reason} ({count:,})" for reason, count in self.skipped.items())
            lines.append(f"left out: {', '.join(reasons)}")
        if Reason.LOOKS_SECRET in self.skipped:
            lines.append(INCLUDING_SECRETS)
        return lines
