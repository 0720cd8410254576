"""The Jinja environment, strict in both directions: undefined names and unencoded values fail."""

from collections.abc import Mapping
from functools import cache

import jinja2

from foundry.errors import RenderError
from foundry.rendering.encoders import ENCODERS, Encoded
from foundry.storage.files import templates_folder


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
