"""Declares what a server brings along unless `[server]` leaves it out, beside its interfaces."""

from foundry.features.operation import Interface, switch


class Hooks(Interface):
    """The owner's own code: `custom.py`."""

    name = "hooks"
    keys = switch(
        "hooks",
        "Whether `custom.py` may change searches, refuse requests and add endpoints.",
        default=True,
    )
    files = ("package/custom.py",)
    contents = (
        ("{package}/custom.py", "your own code: hooks of searches, access checks, endpoints"),
    )


class Snippets(Interface):
    """The part of each hit that is worth showing."""

    name = "snippets"
    keys = switch(
        "snippets",
        "Whether results over HTTP have a snippet and the places of the query's words.",
        default=True,
    )


class CommandLine(Interface):
    """The search in a terminal."""

    name = "command_line"
    keys = switch(
        "command_line", "Whether there is a command that searches, `search`.", default=True
    )
    needs = (Snippets.name,)
