"""Collects findings about a document during decoding and reading."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from foundry.documents import Finding
from foundry.documents.left_out import LeftOut, Omission


@dataclass
class Notes:
    """Words of the container, words left out, hidden characters by kind, guessed character sets,
    and the parts that could not be read.
    """

    left_out: list[LeftOut] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    hidden: dict[str, Finding] = field(default_factory=dict)
    guessed: set[str] = field(default_factory=set)
    damaged: dict[str, None] = field(default_factory=dict)


_NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def taking_notes() -> Iterator[Notes]:
    """Collect notes until the context ends."""
    notes = Notes()
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def leave_out(reason: Omission, text: str, place: str = "") -> None:
    """Record words that are left out of the text, if notes are collected."""
    notes = _NOTES.get()
    if notes and text and not text.isspace():
        notes.left_out.append(LeftOut(reason, text, place))


def note_source(text: str) -> None:
    """Record unprocessed text of the container, if notes are collected."""
    notes = _NOTES.get()
    if notes:
        notes.source.append(text)


def note_hidden(kind: str, count: int, line: int | None = None) -> None:
    """Count hidden characters, with the line of the first, if notes are collected."""
    notes = _NOTES.get()
    if notes and count:
        first = notes.hidden.setdefault(kind, Finding(kind, line, 0))
        notes.hidden[kind] = replace(first, count=first.count + count)


def note_guess(charset: str) -> None:
    """Record a guessed character set, if notes are collected."""
    if notes := _NOTES.get():
        notes.guessed.add(charset)


def note_damage(part: str) -> None:
    """Record a part of a document that is missing or damaged, if notes are collected."""
    if notes := _NOTES.get():
        notes.damaged[part] = None
