"""Directives of docutils, with any options, and of Sphinx and its extensions.

Each returns nodes for `writer`: docutils nodes, and `description` for a documented object (a
function, a command-line option).
"""

import re
from functools import cache
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from foundry.documents.left_out import Omission
from foundry.readers.formats.pages.blocks import TAB
from foundry.readers.formats.rst.elements import description, panel
from foundry.readers.formats.rst.included import TableInFile, link_to_file
from foundry.readers.formats.rst.names import (
    ADMONITIONS,
    BUTTONS,
    CODE,
    INCLUDED,
    INDEXES,
    LEADING,
    OBJECTS,
    PANELS,
    SETTINGS,
    UNSEEN,
    VERSIONS,
)
from foundry.readers.notes import leave_out

_SHOWN_OPTIONS = (
    "title subtitle caption header footer alt summary heading type value default synopsis prog"
    " deprecated required canonical".split()
)
# Column counts of a grid, by screen size.
_COLUMNS = re.compile(r"\d{1,2}( \d{1,2})*")
_SEPARATOR = re.compile(r"[\^+]{3,}\s*")


class _AnyOption(dict[str, Any]):
    """The options of a directive; unknown ones are kept as written."""

    def __missing__(self, key: str) -> Any:
        return directives.unchanged

    def __contains__(self, key: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True


@cache
def find_directive(name: str, known: type[Directive] | None) -> type[Directive]:
    """Return the class for a directive; `known` is docutils' own class, if any."""
    kind = name.rpartition(":")[2]
    if kind in CODE:
        return _Code
    if kind == "meta" and known is not None:
        return known
    if kind == "math":
        return _Math
    if kind == "raw":
        return _Raw
    if kind in VERSIONS:
        return _Version
    if kind == "glossary":
        return _Glossary
    if kind in OBJECTS or (":" in name and known is None):
        return _Description
    if known is None or kind in SETTINGS | INCLUDED | LEADING | INDEXES | UNSEEN | {"container"}:
        own = kind not in {"class", "role", "title", "unicode", "date", "sectnum"}
        if known is None or own:
            return _Other
    options = _AnyOption(known.option_spec or {})
    bases = (TableInFile, known) if kind == "csv-table" else (known,)
    return type(known.__name__, bases, {"option_spec": options})


class _Lenient(Directive):
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = _AnyOption()

    @property
    def kind(self) -> str:
        """The name without its domain."""
        return str(self.name).rpartition(":")[2]

    @property
    def argument(self) -> str:
        """Everything after the two colons, as written."""
        return self.arguments[0] if self.arguments else ""

    def inline(self, text: str) -> list[nodes.Node]:
        """Parse a text with inline markup."""
        found, messages = self.state.inline_text(text, self.lineno)
        return [*found, *messages]

    def paragraph(self, text: str) -> nodes.paragraph:
        """Return a paragraph of text with inline markup."""
        return nodes.paragraph(text, "", *self.inline(text))

    def add_content(self, parent: nodes.Element) -> nodes.Element:
        """Parse the content, which may have sections, into a node, and return the node."""
        self.state.nested_parse(self.content, self.content_offset, parent, match_titles=True)
        return parent

    def shown_options(self) -> list[nodes.Node]:
        """Return the options with text for readers as paragraphs; record the others as left out."""
        shown = list[nodes.Node]()
        for name, value in self.options.items():
            if not value or not isinstance(value, str):
                continue
            if name in _SHOWN_OPTIONS:
                label = "" if name in {"title", "caption", "header", "summary"} else f"{name}: "
                shown.append(self.paragraph(label + " ".join(value.split())))
            else:
                leave_out(Omission.ATTRIBUTE, value, f"line {self.lineno}")
        return shown


class _Code(_Lenient):
    """Code: `code-block` and variants, doctests, sources of drawings."""

    def run(self) -> list[nodes.Node]:
        argument = self.argument
        if self.kind == "productionlist":
            lines = argument.split("\n") if self.content else [argument]
            return [_literal("\n".join([*lines, *self.content]), "")]
        language, _, label = argument.partition(" ")
        self.add_name(whole := nodes.container())
        if caption := str(self.options.pop("caption", "")):
            whole += nodes.caption(caption, "", *self.inline(" ".join(caption.split())))
        found = self.shown_options()
        is_command = self.kind in {"prompt", "exec", "asciinema"} or "\n" in argument
        if label or is_command or (argument and not self.content):
            if is_command or not self.content:
                language, label = "", argument
            if self.content and self.kind != "code-tab":
                found.append(self.paragraph(label or language))
        if self.kind in {"doctest", "testoutput", "testcode"}:
            language = "" if self.kind == "testoutput" else "python"
        code = "\n".join(self.content) or argument
        if self.kind == "code-tab":
            title = self.inline(label or language)
            return [panel("", nodes.title("", "", *title), _literal(code, language), sign=TAB)]
        whole.extend([*found, _literal(code, language)])
        return [whole]


def _literal(code: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(code, code, language=language)


class _Math(_Lenient):
    """A labelled equation."""

    def run(self) -> list[nodes.Node]:
        tex = "\n".join(filter(None, [self.argument, "\n".join(self.content)]))
        label = self.options.get("label") or ""
        return [nodes.math_block(tex, tex, label=label)]


class _Raw(_Lenient):
    """Markup of another format: HTML is read, others are left out."""

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        return [nodes.raw(text, text, format=self.argument.lower())]


def _first_word(text: str) -> tuple[str, str]:
    """Return the first word, and the text after it on its line or the next."""
    word, *rest = text.split(None, 1) or [""]
    return word, "".join(rest)


class _Version(_Lenient):
    """A change in a version: `versionadded` and similar directives."""

    def run(self) -> list[nodes.Node]:
        version, words = _first_word(self.argument)
        if self.kind == "deprecated-removed":
            removed, words = _first_word(words)
            version = f"{version}, removed in version {removed}"
        said = f"{VERSIONS[self.kind]} {version}".strip()
        found = self.add_content(nodes.container())
        first = nodes.paragraph("", f"{said}: " if words or self.content else said)
        first += self.inline(" ".join(words.split())) if words else []
        if not words and len(found) and isinstance(found[0], nodes.paragraph):
            first += found[0].children
            found.remove(found[0])
        return [first, *self.shown_options(), *found.children]


class _Glossary(_Lenient):
    """A glossary: definitions with one or more terms each."""

    def run(self) -> list[nodes.Node]:
        terms = list[str]()
        found = nodes.definition_list()
        lines, place = self.content, 0
        while place < len(lines):
            line = lines[place]
            if not line.strip() or line.startswith(".. "):
                place += 1
            elif not line[0].isspace():
                terms.append(line)
                place += 1
            else:
                end = place
                while end < len(lines) and (not lines[end].strip() or lines[end][0].isspace()):
                    end += 1
                inner = lines[place:end]
                inner.trim_left(min(len(x) - len(x.lstrip()) for x in inner if x.strip()))
                found += self._entry(terms, inner, place)
                terms, place = [], end
        if terms:
            found += self._entry(terms, None, 0)
        return [found]

    def _entry(self, terms: list[str], lines: Any, place: int) -> nodes.Node:
        entry = nodes.definition_list_item()
        for term in terms:
            named, _, kind = re.sub(r"\s+:\s+", "\n", term, count=1).partition("\n")
            leave_out(Omission.ATTRIBUTE, kind)
            entry += nodes.term(term, "", *self.inline(named))
        definition = nodes.definition()
        if lines is not None:
            self.state.nested_parse(lines, self.content_offset + place, definition)
        entry += definition
        return entry


class _Description(_Lenient):
    """A documented object, with its signatures."""

    def run(self) -> list[nodes.Node]:
        written = re.sub(r"\\\n\s*", " ", self.argument)
        method = f"{self.kind.upper()} " if str(self.name).startswith("http:") else ""
        signatures = [
            method + " ".join(line.split()) for line in written.split("\n") if line.strip()
        ]
        found = description("", signatures=signatures, kind=self.kind)
        for name in ("type", "value"):
            if value := self.options.pop(name, ""):
                found[name] = " ".join(str(value).replace("``", "").split())
        found += self.shown_options()
        return [self.add_content(found)]


class _Other(_Lenient):
    """Any other directive: argument and content are text, options are recorded as left out."""

    def run(self) -> list[nodes.Node]:
        place = f"line {self.lineno}"
        text = "\n".join([self.argument, *self.content])
        if self.kind in LEADING:
            found = [self.options[name] for name in ("caption", "name") if self.options.get(name)]
            leave_out(Omission.NAVIGATION, "\n".join([text, *map(str, found)]), place)
            return []
        if self.kind in UNSEEN | INDEXES:
            leave_out(Omission.HIDDEN if self.kind in UNSEEN else Omission.ATTRIBUTE, text, place)
            return []
        if self.kind in {"only", "ifconfig"}:
            leave_out(Omission.MACRO, self.argument, place)
            return self.add_content(nodes.container()).children
        if self.kind in SETTINGS | INCLUDED:
            leave_out(Omission.MACRO, self.argument, place)
            shown = self.shown_options()
            file = [link_to_file(self.argument)] if self.kind in INCLUDED else []
            return [*shown, *file, *self.add_content(nodes.container()).children]
        if self.kind in {"container", "compound"}:
            leave_out(Omission.ATTRIBUTE, self.argument, place)
            return self.add_content(nodes.container()).children
        return self._with_title()

    def _with_title(self) -> list[nodes.Node]:
        title = " ".join(self.argument.split())
        if _COLUMNS.fullmatch(title) or (self.kind in BUTTONS and self.content):
            leave_out(Omission.MACRO, title, f"line {self.lineno}")
            title = ""
        content = self.content
        for line in range(len(content)):
            if _SEPARATOR.fullmatch(content[line]):
                content[line] = ""
        label = ADMONITIONS.get(self.kind)
        box: nodes.Element = nodes.admonition() if label else nodes.container()
        if title and self.kind in PANELS:
            sign = "**{}**" if "open" in self.options else PANELS[self.kind]
            box = panel("", nodes.title("", "", *self.inline(title)), sign=sign)
        else:
            box += [nodes.title(label, label)] if label else []
            box += [self.paragraph(title)] if title else []
        box.extend(self.shown_options())
        return [self.add_content(box)]
