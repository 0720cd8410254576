"""Elements of the document tree that docutils does not have."""

from docutils import nodes


class description(nodes.General, nodes.Element):  # noqa: N801 (nodes are called so)
    """A documented object: `signatures` as written, and its description."""


class panel(nodes.General, nodes.Element):  # noqa: N801
    """Content that a page shows after a click; begins with its title. `sign` is TAB or CLOSED."""
