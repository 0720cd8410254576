"""The page of the chat."""

from .page import Page

ASSETS = ("chat.css", "chat.html", "chat.js")
"""The files of `page/` that only this page needs."""


def chat_page() -> Page:
    """Read the page. Raises ConfigurationError if a file of it cannot be used."""
    return Page.read("chat.html")
