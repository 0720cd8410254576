"""The runtime has no code that no export uses, and no value is overwritten before it is used."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import foundry
from foundry.files import templates_folder
from foundry.rendering.copying import RUNTIME

GOLDEN = Path(__file__).parent.parent / "golden"
FEATURES = Path(foundry.__file__).parent / "features"

OF_LIBRARIES = {
    "BoundedHttpProtocol.send_400_response",
    "EventStream.stream_response",
    "JsonHandler.emit",
}
"""Methods that libraries call."""

FOR_BUILDERS_AND_TESTS = {
    "PieceCutter.__init__(entries)",
    "RateLimit.__init__(clock)",
    "RecentVectors.__init__(capacity)",
    "path_prefixes",
    "format_json(indent)",
    "row_id",
    "walk(passed_over)",
}
"""Functions that only the builder or tests call, and parameters that only they pass."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def unused_in(modules: Mapping[str, ast.Module], composed: str = "") -> set[str]:
    """Return the functions that these modules never name, and the parameters that no call passes.

    A word in the text of `composed` counts as named, and as passed.
    """
    nodes = [node for tree in modules.values() for node in ast.walk(tree)]
    words = set(re.findall(r"\w+", composed))
    # Templates and decorators name some functions in strings.
    named = Counter(
        getattr(node, name)
        for node in nodes
        for kind, name in ((ast.Name, "id"), (ast.Attribute, "attr"), (ast.Constant, "value"))
        if isinstance(node, kind) and isinstance(getattr(node, name), str)
    )
    calls: dict[str, list[ast.Call]] = defaultdict(list)
    subclasses: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                subclasses[name_of(base)].append(node.name)
        if isinstance(node, ast.Call):
            calls[name_of(node.func)].append(node)
            if name_of(node.func) == "partial" and node.args:
                bound = ast.Call(node.args[0], node.args[1:], node.keywords)
                calls[name_of(node.args[0])].append(bound)
    unused = set()
    for owner, function in functions_in(modules):
        place = f"{owner}.{function.name}" if owner else function.name
        is_special = function.name.startswith("__")
        is_named = named[function.name] or function.name in words
        if not (is_named or function.decorator_list or is_special):
            unused.add(place)
        made = [owner, *subclasses[owner]] if function.name == "__init__" else [function.name]
        asked = [call for name in made for call in calls[name]]
        if asked:
            missed = (name for name in never_passed(function, owner, asked) if name not in words)
            unused |= {f"{place}({name})" for name in missed}
    return unused


def functions_in(modules: Mapping[str, ast.Module]) -> Iterator[tuple[str, Definition]]:
    """Yield each function and method of the modules with its class name, "" for functions."""
    for tree in modules.values():
        for node in (tree, *(each for each in tree.body if isinstance(each, ast.ClassDef))):
            owner = node.name if isinstance(node, ast.ClassDef) else ""
            for inner in node.body:
                if isinstance(inner, Definition):
                    yield owner, inner


def never_passed(function: Definition, owner: str, calls: list[ast.Call]) -> Iterator[str]:
    """Yield the parameters with a default that no call passes."""
    arguments = function.args
    own = bool(owner) and "staticmethod" not in map(name_of, function.decorator_list)
    places = [*arguments.posonlyargs, *arguments.args][own:]
    with_default = {one.arg: place for place, one in enumerate(places)}
    first = len(places) - len(arguments.defaults)
    names = [one.arg for one in places[first:]]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    names += [one.arg for one, default in pairs if default is not None]
    for name in names:
        place = with_default.get(name, len(places))
        if not any(
            len(call.args) > place
            or any(isinstance(each, ast.Starred) for each in call.args)
            or any(keyword.arg in (None, name) for keyword in call.keywords)
            for call in calls
        ):
            yield name


def replaced_in(tree: ast.Module) -> list[str]:
    """Return the names that a block assigns again before their value was used."""
    found = []
    for node in ast.walk(tree):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            given: dict[str, int] = {}
            for statement in block if isinstance(block, list) else ():
                for name in names_in(statement, ast.Load):
                    given.pop(name, None)
                match statement:
                    case ast.Assign(targets=targets):
                        pass
                    case ast.AnnAssign(target=target, value=ast.expr()):
                        targets = [target]
                    case _:
                        continue
                stored = {name for each in targets for name in names_in(each, ast.Store)}
                found += [f"{name}, line {given[name]}" for name in stored & given.keys()]
                given |= dict.fromkeys(stored - {"_"}, statement.lineno)
    return sorted(found)


def names_in(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    """Return the names that part of a module reads or assigns."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, context):
            yield each.id


def name_of(node: ast.expr) -> str:
    """Return the last part of a dotted name; "" for any other expression."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def test_there_is_no_unused_code() -> None:
    modules = {str(path): ast.parse(path.read_bytes()) for path in RUNTIME.rglob("*.py")}
    composing = (*FEATURES.rglob("*.py"), *templates_folder().rglob("*.py.jinja"))
    composed = "".join(path.read_text("utf-8") for path in composing)
    assert unused_in(modules, composed) == OF_LIBRARIES | FOR_BUILDERS_AND_TESTS


@pytest.mark.parametrize("case", sorted(path.name for path in GOLDEN.iterdir()))
def test_no_value_is_overwritten_before_it_is_used(case: str) -> None:
    modules = {path: ast.parse(path.read_text("utf-8")) for path in (GOLDEN / case).rglob("*.py")}
    assert {path: found for path, tree in modules.items() if (found := replaced_in(tree))} == {}


def test_overwritten_values_are_noticed() -> None:
    text = """
ask, index = search, 1
if ask:
    hint: str = "a"
    hint, more = "b", 2
    hint = f"{hint}c"
ask = index = 2
ask = 3
"""
    assert replaced_in(ast.parse(text)) == ["ask, line 7", "hint, line 4", "index, line 2"]


def test_unused_code_is_noticed() -> None:
    text = """
def used(one, two=2, *, three=3): ...
def unused(): ...
class Lane:
    def __init__(self, count=1): ...
    def asked(self, first, last=0): ...
    def alone(self): ...
used(1, three=4)
Lane().asked(1)
"""
    expected = {"unused", "used(two)", "Lane.__init__(count)", "Lane.asked(last)", "Lane.alone"}
    assert unused_in({"a.py": ast.parse(text)}) == expected
