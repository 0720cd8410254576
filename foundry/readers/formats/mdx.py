"""MDX: Markdown between components, whose indentation only follows their nesting."""

from functools import partial

from foundry.readers.contract import Reader
from foundry.readers.formats import markdown

READER = Reader("mdx/2", {".mdx": "text/markdown"}, partial(markdown.read, is_mdx=True))
