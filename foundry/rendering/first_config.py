"""The foundry.toml that a project begins with."""

from foundry.config.package_names import is_taken
from foundry.features.documentation import comment_tables
from foundry.rendering.environment import render


def compose_config(title: str, source: dict[str, object]) -> str:
    """Return a commented foundry.toml that builds as it is.

    `source` is what the modules of sources suggest; the server's name is made of `title`.
    """
    name = slug_of(title)
    if not name or not name[0].isalpha() or is_taken(name.replace("-", "_")):
        name = f"docs-{name}".rstrip("-")
    values = {
        "name": name,
        "package": name.replace("-", "_"),
        "title": title,
        "stages": comment_tables(),
        **source,
    }
    return render("foundry.toml.jinja", values)


def slug_of(title: str) -> str:
    """Return the words of a title in lower-case ASCII, joined by hyphens; "" if it has none."""
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in title)
    return "-".join(words.lower().split())[:50].strip("-")
