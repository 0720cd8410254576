"""What worker processes do: prepare a document by a recipe. See `readers.worker`."""

from collections.abc import Callable
from typing import Any

from foundry.build.documents.encoding import encode_result, raw_document
from foundry.build.documents.preparer import Preparer
from foundry.build.documents.recipe import Recipe
from foundry.readers.sandbox.wire import run_reader
from foundry.records import Reading


class _Here:
    """Reads files in this process, which is a worker's."""

    def read(self, version: str, content: bytes) -> Reading:
        """Have the reader of that version read a file. Raises UnreadableError."""
        return run_reader(version, content)


def open_task(options: str) -> Callable[[dict[str, Any], bytes], bytes]:
    """Return what answers requests by the recipe in `options`."""
    preparer = Preparer(Recipe.from_json(options), _Here())

    def answer(request: dict[str, Any], content: bytes) -> bytes:
        raw = raw_document(request["document"], content)
        return encode_result(raw, preparer.prepare(raw))

    return answer
