"""NumPy files that grow while they are written, so that no array has to fit into memory."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class ArrayFile:
    """An array (n,) or (n, width) on disk that takes rows at its end; n is unknown until `close`.

    The bytes are those that `files.write_array` writes for the whole array.
    """

    def __init__(self, path: Path, dtype: DTypeLike, width: int | None = None) -> None:
        self.path = path
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self._row_shape = () if width is None else (width,)
        self._rows = 0
        self._file = path.open("wb")
        # Headers leave room for a longer shape, so that this one can be replaced in its place.
        self._header_length = self._file.write(self._header())

    def __len__(self) -> int:
        return self._rows

    def append(self, rows: NDArray[np.generic]) -> None:
        """Write more rows, (m,) or (m, width)."""
        assert rows.shape[1:] == self._row_shape
        self._file.write(np.ascontiguousarray(rows, dtype=self._dtype).data)
        self._rows += len(rows)

    def close(self) -> None:
        """Write the header for the rows that there are; nothing more can be appended."""
        if not self._file.closed:
            with self._file:
                header = self._header()
                assert len(header) == self._header_length
                self._file.seek(0)
                self._file.write(header)

    def blocks(self, rows: int) -> Iterator[NDArray[Any]]:
        """Yield all rows, so many at a time, when it has been closed."""
        width = int(np.prod(self._row_shape, dtype=np.int64))
        with self.path.open("rb") as file:
            file.seek(self._header_length)
            for start in range(0, self._rows, rows):
                count = min(rows, self._rows - start)
                block = np.fromfile(file, dtype=self._dtype, count=count * width)
                yield block.reshape(count, *self._row_shape)

    def _header(self) -> bytes:
        described = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self._rows, *self._row_shape),
        }
        header = BytesIO()
        np.lib.format.write_array_header_1_0(header, described)
        return header.getvalue()
