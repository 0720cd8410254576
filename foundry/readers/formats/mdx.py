"""MDX: Markdown between components, whose indentation only follows their nesting."""

from functools import partial

from foundry.readers.contract import Reader
from foundry.readers.formats import markdown

READER = Reader("mdx/1", {".mdx": "text/markdown"}, partial(markdown.read, indented_code=False))
