"""Adds pages from outside docs/ to the site, if pages of docs/ link to them.

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
    """Add pages and pictures from outside docs/ under their paths, and the README as home page."""
    for path in OUTSIDE:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=readme.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Adapt links between docs/ and the rest of the repository to the paths on the site."""
    if page.file.src_uri in OUTSIDE:
        markdown = re.sub(r"(?<=\]\()((?:\.\./)+)docs/", r"\1", markdown)
        # GitHub keeps each hyphen of a heading in its anchor; Python-Markdown joins several to one.
        return re.sub(
            r"(\]\([^()\s#:]*#)([^()\s]+)",
            lambda link: link[1] + re.sub("-+", "-", link[2]),
            markdown,
        )
    return re.sub(r"\]\(\.\./(?=[a-z])", "](", markdown)
