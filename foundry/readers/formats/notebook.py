"""Jupyter notebooks: Markdown cells with their outline, code cells with what they printed."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from foundry.material import Reading
from foundry.material.reasons import Reason
from foundry.readers.accounting.containers import notebook_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader, UnreadableError
from foundry.readers.decoding import normalise
from foundry.readers.formats.markdown import reader as markdown

MAX_OUTPUT_CHARS = 2_000


def read(text: str) -> Reading:
    """Read a notebook's cells in their order; of outputs, only text, and its beginning.

    Raises UnreadableError for what is no notebook of format 4.
    """
    try:
        notebook = json.loads(text)
        cells = notebook["cells"]
        details = notebook.get("metadata", {})
        language = str(details.get("kernelspec", {}).get("language", ""))
        composer = Composer()
        for cell in cells:
            source = normalise(_joined(cell["source"]))
            if cell["cell_type"] == "markdown":
                composer.include(markdown.read_body(source.strip("\n")))
            elif cell["cell_type"] == "code":
                if source.strip():
                    composer.text(f"```{language}\n{source}\n```", is_block=True)
                for output in _outputs(cell):
                    composer.text(f"```\n{output[:MAX_OUTPUT_CHARS]}\n```", is_block=True)
            else:
                composer.text(source)
        title = details.get("title")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(Reason.DAMAGED, f"no notebook: {type(error).__name__}") from None
    return composer.finish(title=title if isinstance(title, str) else None)


def _outputs(cell: Mapping[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", ()):
        written = output.get("text") or output.get("data", {}).get("text/plain") or ""
        text = _joined(written).strip()
        if text:
            yield text


def _joined(written: str | list[str]) -> str:
    return written if isinstance(written, str) else "".join(written)


READER = Reader("notebook/1", {".ipynb": "application/x-ipynb+json"}, read, texts=notebook_texts)
