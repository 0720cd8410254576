"""Elements of the document tree that docutils does not have."""

from docutils import nodes


class description(nodes.General, nodes.Element):  # noqa: N801 (like docutils' own)
    """A documented object: `signatures` as written, and its description."""


class panel(nodes.General, nodes.Element):  # noqa: N801
    """A box that begins with its title; `sign` is the form of the title, such as TAB or CLOSED."""
