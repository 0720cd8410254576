"""The languages whose definitions are found by a parser, and what their grammars call them.

Each grammar is a tree-sitter wheel of its own, so nothing is downloaded when it is used.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grammar:
    """Where a grammar is, and its node types that matter.

    Attributes:
        module: The Python module of its wheel.
        function: What gives the language there.
        scopes: Definitions in which others may stand: classes, namespaces, implementations.
        callables: Functions and methods; a declaration without a body is none.
        values: Nodes that give a name to a function, and the fields of the name and the function.
        wrappers: What may stand around a definition and belongs to it.
        attached: Beside comments, what may stand before a definition and belongs to it.
        bodies: Scopes that are definitions only where they have a body.
        fallback: The grammar to try where this one finds errors.
    """

    module: str
    function: str = "language"
    scopes: frozenset[str] = frozenset()
    callables: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    fallback: str | None = None


COMMENTS = frozenset(("comment", "line_comment", "block_comment"))
"""What the grammars call comments."""

OPENERS = frozenset(
    ("namespace_definition", "namespace_declaration", "internal_module", "mod_item", "impl_item")
)
"""Scopes that only open: their first line, if it is alone, goes with the definition below it."""

FUNCTION_VALUES = frozenset(
    ("arrow_function", "function_expression", "generator_function", "class", "function")
)
"""Values that make a definition of what they are given to."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SCRIPT_VALUES = _names(
    "variable_declarator field_definition public_field_definition assignment_expression pair"
)
_SCRIPT_WRAPPERS = _names(
    "export_statement lexical_declaration variable_declaration expression_statement"
    " ambient_declaration"
)
_JAVASCRIPT = Grammar(
    "tree_sitter_javascript",
    scopes=_names("class_declaration"),
    callables=_names("function_declaration generator_function_declaration method_definition"),
    values=_SCRIPT_VALUES,
    wrappers=_SCRIPT_WRAPPERS,
    attached=_names("decorator"),
)
_TYPESCRIPT_SCOPES = _names(
    "class_declaration abstract_class_declaration interface_declaration enum_declaration"
    " internal_module module type_alias_declaration"
)
_C_TYPES = _names("struct_specifier union_specifier enum_specifier")

GRAMMARS = {
    "python": Grammar(
        "tree_sitter_python",
        scopes=_names("class_definition"),
        callables=_names("function_definition"),
        wrappers=_names("decorated_definition"),
    ),
    "javascript": _JAVASCRIPT,
    "typescript": Grammar(
        "tree_sitter_typescript",
        "language_typescript",
        scopes=_TYPESCRIPT_SCOPES,
        callables=_JAVASCRIPT.callables,
        values=_SCRIPT_VALUES,
        wrappers=_SCRIPT_WRAPPERS,
        attached=_JAVASCRIPT.attached,
        fallback="tsx",
    ),
    "tsx": Grammar(
        "tree_sitter_typescript",
        "language_tsx",
        scopes=_TYPESCRIPT_SCOPES,
        callables=_JAVASCRIPT.callables,
        values=_SCRIPT_VALUES,
        wrappers=_SCRIPT_WRAPPERS,
        attached=_JAVASCRIPT.attached,
    ),
    "go": Grammar(
        "tree_sitter_go",
        scopes=_names("type_spec"),
        callables=_names("function_declaration method_declaration"),
        wrappers=_names("type_declaration"),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        scopes=_names("mod_item impl_item trait_item struct_item enum_item union_item"),
        callables=_names("function_item macro_definition"),
        attached=_names("attribute_item"),
        bodies=_names("mod_item"),
    ),
    "java": Grammar(
        "tree_sitter_java",
        scopes=_names(
            "class_declaration interface_declaration enum_declaration record_declaration"
            " annotation_type_declaration"
        ),
        callables=_names(
            "method_declaration constructor_declaration compact_constructor_declaration"
        ),
    ),
    "c": Grammar(
        "tree_sitter_c",
        scopes=_C_TYPES | {"type_definition"},
        callables=_names("function_definition"),
        bodies=_C_TYPES | {"type_definition"},
        fallback="cpp",
    ),
    "cpp": Grammar(
        "tree_sitter_cpp",
        scopes=_C_TYPES | _names("type_definition namespace_definition class_specifier"),
        callables=_names("function_definition"),
        wrappers=_names("template_declaration"),
        bodies=_C_TYPES | _names("type_definition class_specifier"),
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        scopes=_names("class module"),
        callables=_names("method singleton_method"),
    ),
    "shell": Grammar("tree_sitter_bash", callables=_names("function_definition")),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        scopes=_names(
            "namespace_declaration class_declaration struct_declaration interface_declaration"
            " record_declaration enum_declaration"
        ),
        callables=_names(
            "method_declaration constructor_declaration destructor_declaration"
            " local_function_statement"
        ),
    ),
    "php": Grammar(
        "tree_sitter_php",
        "language_php",
        scopes=_names(
            "namespace_definition class_declaration interface_declaration trait_declaration"
            " enum_declaration"
        ),
        callables=_names("function_definition method_declaration"),
        bodies=_names("namespace_definition"),
    ),
}
