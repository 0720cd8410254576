"""Adds to the site of docs/ what its pages link to elsewhere in the repository.

mkdocs calls these functions; see `hooks` in tools/mkdocs.yml.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
CARD = "foundry/models/static-en/CARD.md"
RESULTS = sorted(f"benchmarks/results/{page.name}" for page in ROOT.glob("benchmarks/results/*.md"))
OUTSIDE = ("benchmarks/README.md", "benchmarks/scale.svg", *RESULTS, CARD)


def on_files(files: Files, *, config: Any) -> Files:
    """Add pages and pictures from outside docs/ under their own paths, and the README in front."""
    for path in OUTSIDE:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=readme.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Lead links between docs/ and the rest of the repository to where those files are."""
    if page.file.src_uri in OUTSIDE:
        markdown = re.sub(r"(?<=\]\()((?:\.\./)+)docs/", r"\1", markdown)
        # GitHub keeps each hyphen of a heading in its anchor; Python-Markdown joins several to one.
        return re.sub(
            r"(\]\([^()\s#:]*#)([^()\s]+)",
            lambda link: link[1] + re.sub("-+", "-", link[2]),
            markdown,
        )
    return re.sub(r"\]\(\.\./(?=[a-z])", "](", markdown)
