"""MDX: Markdown between components, whose indentation only follows their nesting."""

from functools import partial

from foundry.readers import markdown
from foundry.readers.contract import Reader

READER = Reader("mdx/1", {".mdx": "text/markdown"}, partial(markdown.read, indented_code=False))
