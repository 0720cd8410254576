"""Links to files that a page includes, which are not read."""

from docutils import nodes
from docutils.parsers.rst import Directive


def link_to_file(path: str) -> nodes.paragraph:
    """Return a paragraph that consists of a link to a file."""
    return nodes.paragraph("", "", nodes.reference(path, path, refuri=path))


class TableInFile(Directive):
    """A table whose content may be in a file, which is not read."""

    def run(self) -> list[nodes.Node]:
        """Return the table, or its title with a link to its file."""
        path = self.options.get("file") or self.options.get("url")
        if not path:
            return list(super().run())
        title, messages = self.state.inline_text(" ".join(self.arguments), self.lineno)
        return [nodes.paragraph("", "", *title), *messages, link_to_file(path)]
