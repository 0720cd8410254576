"""Renders templates of Foundry or of a project; undefined names and unencoded values are errors."""

import json
import os
import re
import textwrap
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import cast

import jinja2

from foundry.config.named_files import TEMPLATE_BYTES, NamedFileError, read_named_text
from foundry.errors import RenderError
from foundry.features.calls import ASKED, Argument, Call, Imported, Statement
from foundry.features.snippet import Snippet
from foundry.files import templates_folder

SUFFIX = ".jinja"


def render(
    template: str, values: Mapping[str, object], own: Mapping[str, str] | None = None
) -> str:
    """Render a template; texts in `own` replace Foundry's templates by name.

    Raises RenderError with template and line.
    """
    environment = _environment()
    if own and environment.loader:
        loaders = [jinja2.DictLoader(own), environment.loader]
        environment = environment.overlay(loader=jinja2.ChoiceLoader(loaders), cache_size=0)
    try:
        return environment.get_template(template).render(values)
    except jinja2.TemplateSyntaxError as error:
        raise RenderError(f"template {template}, line {error.lineno}: {error.message}") from None
    except (jinja2.TemplateError, ValueError) as error:
        raise RenderError(f"template {template}: {error}") from None


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_folder()),
        undefined=jinja2.StrictUndefined,
        finalize=_require_encoded,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(ENCODERS)
    return environment


def _require_encoded(value: object) -> object:
    # Undefined values pass here, so that Jinja's own error names the variable.
    if isinstance(value, Encoded | jinja2.Undefined):
        return value
    raise ValueError(f"{value!r} is printed without an encoder ({', '.join(ENCODERS)})")


def read_own_templates(folder: Path, known: set[str]) -> Mapping[str, str]:
    """Return a project's own templates, which replace Foundry's by name; each must be `known`.

    Templates are code, and Jinja's sandbox was escaped too often to be a security boundary, so they
    are only read if the caller trusts them. These checks prevent mistakes, not malice.

    Raises RenderError for a link that leaves the folder, a name that replaces nothing, and files
    that are not text.
    """
    root = folder.resolve()
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        # `Path.resolve` would raise a different error for circular links.
        if not Path(os.path.realpath(path)).is_relative_to(root):
            raise RenderError(
                f"{path}: is a link that leads out of the templates folder",
                hint="copy the file into the folder",
            )
        if path.is_dir():
            continue
        if name not in known:
            raise RenderError(
                f"{path}: does not replace any template",
                hint=f"name a template after the file that it makes, plus {SUFFIX}:"
                f" {', '.join(sorted(known))}",
            )
        try:
            found[name] = read_named_text(
                path, TEMPLATE_BYTES, key="export.templates", inside=folder
            )
        except NamedFileError as error:
            raise RenderError(error.message) from None
    return found


_SLUG = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$])")
_MARKDOWN_OPENING = re.compile(r"^([-+=]|[0-9]+(?=[.)]))")


class Encoded(str):
    """Text that is safe in the syntax of its encoder."""


def encode_slug(value: object) -> Encoded:
    """Encode a name of lower-case ASCII words, joined by - or _; it is safe in all files."""
    text = str(value)
    if not _SLUG.fullmatch(text):
        raise ValueError(f"not a slug: {text!r}")
    return Encoded(text)


def encode_variable(value: object) -> Encoded:
    """Encode the name of an environment variable."""
    text = str(value)
    if not _VARIABLE.fullmatch(text):
        raise ValueError(f"not a valid variable name: {text!r}")
    return Encoded(text)


def encode_number(value: object) -> Encoded:
    """Encode a finite number, which is written in the same way in Python, TOML and JSON."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"not a number: {value!r}")
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"not a finite number: {value!r}")
    return Encoded(repr(value))


def encode_python(value: object) -> Encoded:
    """Encode text as a Python string literal in ASCII."""
    return Encoded(ascii(str(value)))


def encode_toml(value: object) -> Encoded:
    """Encode text as a basic TOML string; unprintable characters are escaped."""
    return Encoded('"' + "".join(_toml_character(c) for c in str(value)) + '"')


def encode_json(value: object) -> Encoded:
    """Encode text as a JSON string in ASCII; lone surrogates are replaced."""
    return Encoded(
        json.dumps(str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    )


def encode_markdown(value: object) -> Encoded:
    """Encode plain text for a line of Markdown, without markup, HTML, line breaks or list marks."""
    text = " ".join("".join(c if _is_visible(c) else " " for c in str(value)).split())
    text = _MARKDOWN_SPECIAL.sub(r"\\\1", text)
    return Encoded(_MARKDOWN_OPENING.sub(_escape_opening, text))


def encode_literal(value: object) -> Encoded:
    """Encode numbers, booleans and names, and lists and tuples of them, as Python."""
    if isinstance(value, bool):
        return Encoded(value)
    if isinstance(value, list):
        return Encoded(f"[{', '.join(map(encode_literal, value))}]")
    if isinstance(value, tuple):
        return Encoded(f"({', '.join(map(encode_literal, value))})")
    if isinstance(value, str):
        return encode_variable(value) if _VARIABLE.fullmatch(value) else encode_slug(value)
    return encode_number(value)


def encode_snippet(value: object) -> Encoded:
    """Encode a snippet: a feature's own text with its values."""
    if not isinstance(value, Snippet):
        raise ValueError(f"not a snippet: {value!r}")
    wanted = {key for _, key, _, _ in Formatter().parse(value.text) if key}
    return Encoded(value.text.format(**{key: encode_literal(value.values[key]) for key in wanted}))


def encode_lines(value: object, depth: int = 4) -> Encoded:
    """Encode a snippet of Python within a function, indented by `depth` spaces."""
    return Encoded(textwrap.indent(encode_snippet(value), " " * depth))


def encode_paragraph(value: object) -> Encoded:
    """Encode a snippet as a paragraph of a docstring."""
    return Encoded(textwrap.indent(textwrap.fill(encode_snippet(value), 92), " " * 4))


def encode_statement(value: object, depth: int = 4) -> Encoded:
    """Encode a call with its assignment, indented by `depth` spaces; black wraps the line."""
    statement = _require_statement(value)
    targets = [encode_variable(target) for target in statement.targets]
    written = f"{', '.join(targets)} = " if targets else ""
    return Encoded(" " * depth + written + _write(statement.value, statement))


def encode_option(value: object) -> Encoded:
    """Encode a value as a keyword argument."""
    statement = _require_statement(value)
    return Encoded(f"{encode_variable(*statement.targets)}={_write(statement.value, statement)}")


def encode_expression(value: object) -> Encoded:
    """Encode a value as an expression."""
    statement = _require_statement(value)
    return Encoded(_write(statement.value, statement))


def _require_statement(value: object) -> Statement:
    if not isinstance(value, Statement):
        raise ValueError(f"not a statement: {value!r}")
    return value


def _write(argument: Argument, statement: Statement) -> str:
    match argument:
        case Call(_, function, arguments, names):
            written = [_write(each, statement) for each in arguments]
            written += [f"{name}={encode_literal(statement.values[name])}" for name in names]
            return f"{_write_name(function)}({', '.join(written)})"
        case Imported(_, name):
            return _write_name(name)
        case tuple():
            return f"[{', '.join(_write(each, statement) for each in argument)}]"
    name = statement.asked if argument == ASKED else argument
    star = "*" if name.startswith("*") else ""
    return star + _write_name(name.removeprefix("*"))


def _write_name(name: str) -> str:
    return ".".join(map(encode_variable, name.split(".")))


def encode_entry(value: object) -> Encoded:
    """Encode a snippet as an entry of a Markdown list."""
    text = encode_snippet(value)
    return Encoded(textwrap.fill(text, 100, initial_indent="- ", subsequent_indent="  "))


def encode_import(value: object) -> Encoded:
    """Encode an import of names from a module of the package."""
    module, names = cast(tuple[str, tuple[str, ...]], value)
    if not all(part.isidentifier() for part in (*module.split("."), *names)):
        raise ValueError(f"not an import: {value!r}")
    return Encoded(f"from .{module} import {', '.join(names)}")


ENCODERS: dict[str, Callable[..., Encoded]] = {
    "slug": encode_slug,
    "variable": encode_variable,
    "number": encode_number,
    "python": encode_python,
    "toml": encode_toml,
    "json": encode_json,
    "markdown": encode_markdown,
    "snippet": encode_snippet,
    "lines": encode_lines,
    "paragraph": encode_paragraph,
    "statement": encode_statement,
    "option": encode_option,
    "expression": encode_expression,
    "entry": encode_entry,
    "import": encode_import,
}
"""Encoders by syntax. A template can only print values that one of them returned.

Their results are `Encoded`; the environment rejects everything else.
"""


def _escape_opening(match: re.Match[str]) -> str:
    opening = match[1]
    return f"{opening}\\" if opening.isdigit() else f"\\{opening}"


def _toml_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character == " " or _is_visible(character):
        return character
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return "\\ufffd"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_visible(character: str) -> bool:
    # Control and format characters (such as bidirectional overrides), surrogates and separators are
    # invisible.
    return unicodedata.category(character)[0] not in "CZ"
