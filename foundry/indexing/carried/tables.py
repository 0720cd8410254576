"""Tables with a row per document, which are carried from build to build."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import Rows, StoredRows


class Table(Rows):
    """Rows by document; rows of copied documents come from the previous table, `before`.

    A table that `has_texts` also has a text for each entry. `replace` sets a column that `write`
    then writes instead of the added values.
    """

    def __init__(self, kinds: str, before: Path | None, *, has_texts: bool = False) -> None:
        super().__init__(kinds)
        self._before = StoredRows.open(before, len(kinds)) if before else None
        self.texts = Table("B", _texts_of(before) if before else None) if has_texts else None
        self._replaced: dict[int, NDArray[np.generic]] = {}

    def add_texts(self, texts: Iterable[str]) -> None:
        """Add texts for entries that are added at the same time."""
        assert self.texts is not None
        for text in texts:
            self.texts.add(text.encode("utf-8", "surrogatepass"))

    def stored_texts(self) -> StoredRows:
        """Return the texts so far, a row for each entry."""
        assert self.texts is not None
        return self.texts.stored()

    def copy(self, first: int, last: int) -> None:
        """Copy the rows from `first` up to, but excluding, `last` of the previous table."""
        assert self._before is not None
        self.carry(self._before, first, last)
        if self.texts is not None:
            span = self._before.span(first, last)
            self.texts.copy(span.start, span.stop)

    def replace(self, column: int, values: NDArray[np.generic]) -> None:
        """Replace the values (n,) of a column."""
        self._replaced[column] = values

    def write(self, path: Path) -> None:
        """Write all rows for the next build."""
        rows = self.stored()
        columns = [self._replaced.get(place, each) for place, each in enumerate(rows.columns)]
        StoredRows(rows.offsets, columns).write(path)
        if self.texts is not None:
            self.texts.write(_texts_of(path))


def _texts_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.texts")
