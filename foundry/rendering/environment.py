"""Render templates, Foundry's and a project's own; undefined names and unencoded values fail."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jinja2

from foundry.errors import RenderError
from foundry.files import templates_folder
from foundry.rendering.encoders import ENCODERS, Encoded

SUFFIX = ".jinja"


def render(
    template: str, values: Mapping[str, object], own: Mapping[str, str] | None = None
) -> str:
    """Render one template; texts in `own` stand in for Foundry's by name.

    Raises RenderError, naming the template and the line.
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
    # Undefined values pass through, so that their own error names the variable.
    if isinstance(value, Encoded | jinja2.Undefined):
        return value
    raise ValueError(f"{value!r} is printed without an encoder ({', '.join(ENCODERS)})")


def read_own_templates(folder: Path, known: set[str]) -> Mapping[str, str]:
    """Return a project's own templates, which replace Foundry's by name; each must be `known`.

    They are code: a template calls what it can reach, and Jinja's sandbox has been left too often
    to be a boundary, so they are read only for a caller who said that they may run. The checks here
    keep mistakes out, not malice.

    Raises RenderError for a link that leaves the folder, for a name that replaces nothing, and for
    what is no text.
    """
    root = folder.resolve()
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.resolve().is_relative_to(root):
            raise RenderError(f"{path}: is a link that leaves the folder of the templates")
        if path.is_dir():
            continue
        if name not in known:
            raise RenderError(
                f"{path}: replaces no template",
                hint=f"a template is called like the file that it makes, with {SUFFIX}:"
                f" {', '.join(sorted(known))}",
            )
        if not path.is_file():
            raise RenderError(f"{path}: is not a file")
        try:
            found[name] = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise RenderError(f"{path}: cannot be read: {error}") from None
    return found
