"""The languages whose definitions a parser finds: grammars, and the names of definitions.

Each grammar is a separate tree-sitter wheel, so nothing is downloaded at run time.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundry.files import read_beside
from foundry.readers.decoding import normalise_line

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar: its Python `module`, the function there that returns it, and node types.

    `scopes` are definitions that may contain others (classes, namespaces, implementations);
    `callables` define functions, if they have a body; `values` assign a name to a function.
    `wrappers` enclose a definition, and `attached` nodes, like comments, precede one; both belong
    to it. Scopes among `bodies` are definitions only if they have a body. `fallback` names the
    grammar to try after errors.
    """

    module: str
    function: str = "language"
    scopes: frozenset[str] = frozenset()
    callables: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    fallback: str = ""


MAX_NAME_CHARS = 120
_MAX_DECLARATORS = 20
_BARE_DECLARATORS = frozenset(("reference_declarator", "parenthesized_declarator"))
"""Declarators whose inner declarator has no field name."""
_NAMES = frozenset(("module", "function", "fallback"))
_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_RECEIVER = re.compile(r"(\w+)\s*\)$")
_NO_NAMES = frozenset(("prototype", "module", "exports", "this", "self", "window", "global"))
"""Parts of an assignment's target in JavaScript that are not names."""

COMMENTS = frozenset(("comment", "line_comment", "block_comment"))
"""Node types of comments in the grammars."""

OPENERS = frozenset(
    ("namespace_definition", "namespace_declaration", "internal_module", "mod_item", "impl_item")
)
"""Scopes whose first line, if alone, is joined with the definition below it."""

FUNCTION_VALUES = frozenset(
    ("arrow_function", "function_expression", "generator_function", "class", "function")
)
"""Values that turn the variable they are assigned to into a definition."""


def _read_grammars() -> dict[str, Grammar]:
    tables = read_beside(__file__, "grammars.toml")
    for name, table in tables.items():
        base = tables.get(table.pop("extends", ""), {})
        kinds = {key: frozenset(text.split()) for key, text in table.items() if key not in _NAMES}
        tables[name] = {**base, **table, **kinds}
    return {name: Grammar(**table) for name, table in tables.items()}


GRAMMARS = _read_grammars()


def find_names(node: "Node", grammar: Grammar) -> tuple[str, ...]:
    """Return the names that a node defines, outermost first; usually one, or none.

    A method written outside its type (Go, C++) has the type's name before its own.
    """
    kind = node.type
    if kind in grammar.values:
        return _names_of_value(node)
    if kind not in grammar.scopes and kind not in grammar.callables:
        return ()
    if kind in grammar.bodies and not _has_body(node):
        return ()
    if kind in grammar.callables and not _is_callable(node):
        return ()
    names = _split(_text(_name_node(node)))
    receiver = node.child_by_field_name("receiver")
    if receiver is not None:
        found = _RECEIVER.search(_GENERICS.sub("", _text(receiver)))
        return (*([found[1]] if found else []), *names)
    return names


def _names_of_value(node: "Node") -> tuple[str, ...]:
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None or value.type not in FUNCTION_VALUES:
        return ()
    fields = ("name", "property", "key", "left")
    name = next(filter(None, map(node.child_by_field_name, fields)), None)
    parts = [part for part in _text(name).split(".") if part not in _NO_NAMES]
    return tuple(part for part in parts if part.isidentifier())


def _has_body(node: "Node") -> bool:
    inner = node.child_by_field_name("type") if node.type == "type_definition" else node
    return inner is not None and inner.child_by_field_name("body") is not None


def _is_callable(node: "Node") -> bool:
    has_body = node.child_by_field_name("body") is not None
    return has_body or node.type in {"method", "singleton_method", "macro_definition"}


def _name_node(node: "Node") -> "Node | None":
    if node.type == "impl_item":
        return node.child_by_field_name("type")
    name = node.child_by_field_name("name")
    declarator = node.child_by_field_name("declarator")
    for _ in range(_MAX_DECLARATORS):
        if name is not None or declarator is None:
            break
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type in _BARE_DECLARATORS:
            inner = declarator.named_child(0)
        if inner is None:
            name = declarator
        declarator = inner
    return name


def _split(name: str) -> tuple[str, ...]:
    plain = name if "operator" in name else _GENERICS.sub("", _GENERICS.sub("", name))
    parts = (normalise_line(part.strip("\"'"), MAX_NAME_CHARS) for part in plain.split("::"))
    return tuple(part for part in parts if part)


def _text(node: "Node | None") -> str:
    if node is None or node.end_byte - node.start_byte > 4 * MAX_NAME_CHARS:
        return ""
    return (node.text or b"").decode(errors="replace")
