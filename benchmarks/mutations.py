"""The mutations of `mutants.py`: one small change of a module's source at a time.

Source is only changed at that place, so lines keep their numbers. Annotations, docstrings,
decorators and texts are not changed, and neither is code that only repeats a default of Python
(`strict=True`).
"""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MAX_SHOWN_CHARS = 160
"""Maximum length of the code shown before and after a change, in one line."""

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_NAMING_FIELDS = frozenset({"annotation", "returns", "decorator_list", "type_params", "bases"})
_SETTINGS_OF_PYTHON = frozenset({"strict", "slots", "frozen"})
_TELLING = (ast.expr, ast.keyword, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
_DELETED = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of a module: its place, the code before it, and the changed source."""

    line: int
    function: str
    before: str
    after: str
    source: str


def find_mutants(source: str) -> list[Mutant]:
    """Return every mutant of a module, in the order of its lines."""
    found = _Finder(source).find()
    unique = {mutant.source: mutant for mutant in found if mutant.source != source}
    return sorted(unique.values(), key=lambda mutant: (mutant.line, mutant.before, mutant.after))


class _Finder:
    """Walks a module, and tracks the enclosing function or class."""

    def __init__(self, source: str) -> None:
        self._lines = source.encode().splitlines(keepends=True)
        self._tree = ast.parse(source)

    def find(self) -> Iterator[Mutant]:
        """Yield the changes that can be parsed."""
        for mutant in self._visit(self._tree, self._tree, ""):
            try:
                ast.parse(mutant.source)
            except SyntaxError:
                continue
            yield mutant

    def _visit(self, node: ast.AST, parent: ast.AST, function: str) -> Iterator[Mutant]:
        if isinstance(node, ast.stmt | ast.expr):
            for changed in _change(node):
                yield self._mutant(node, changed, parent, function)
        for condition, value in _conditions(node):
            yield self._mutant(condition, ast.Constant(value), node, function)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}" if function else node.name
        for child in _changeable_parts(node):
            yield from self._visit(child, node, function)

    def _mutant(
        self, node: ast.stmt | ast.expr, changed: ast.AST, parent: ast.AST, function: str
    ) -> Mutant:
        code = ast.unparse(changed)
        shown = (ast.unparse(node), code)
        if isinstance(node, ast.Constant) and isinstance(parent, _TELLING):
            # A number alone would not show which of several equal numbers was changed.
            shown = (ast.unparse(parent), ast.unparse(_with_part(parent, node, changed)))
        assert node.end_lineno is not None and node.end_col_offset is not None
        first, last = self._lines[node.lineno - 1], self._lines[node.end_lineno - 1]
        lines_gone = "\n" * (node.end_lineno - node.lineno)
        is_statement = isinstance(node, ast.stmt)
        written = f"{code}{lines_gone}" if is_statement else f"({code}{lines_gone})"
        source = b"".join(
            [
                *self._lines[: node.lineno - 1],
                first[: node.col_offset],
                written.encode(),
                last[node.end_col_offset :],
                *self._lines[node.end_lineno :],
            ]
        )
        before, after = map(_shorten, shown)
        return Mutant(node.lineno, function, before, after, source.decode())


def _with_part(parent: ast.AST, part: ast.AST, changed: ast.AST) -> ast.AST:
    """Return a copy of a node with one of its parts replaced."""
    fields = {
        name: (
            [changed if item is part else item for item in value]
            if isinstance(value, list)
            else (changed if value is part else value)
        )
        for name, value in ast.iter_fields(parent)
    }
    return ast.copy_location(type(parent)(**fields), parent)


def _changeable_parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that affect behaviour, not names and not assertions."""
    if isinstance(node, ast.Assert):
        return
    for name, value in ast.iter_fields(node):
        if name not in _NAMING_FIELDS:
            for part in value if isinstance(value, list) else [value]:
                is_setting = isinstance(part, ast.keyword) and part.arg in _SETTINGS_OF_PYTHON
                is_text = isinstance(part, ast.JoinedStr)
                if isinstance(part, ast.AST) and not is_setting and not is_text:
                    yield part


def _conditions(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield conditions, each with the value to replace it by."""
    if isinstance(node, ast.If | ast.IfExp):
        yield node.test, True
        yield node.test, False
    elif isinstance(node, ast.While):
        yield node.test, False
    elif isinstance(node, ast.comprehension):
        for condition in node.ifs:
            yield condition, True


def _change(node: ast.stmt | ast.expr) -> Iterator[ast.AST]:
    for kind, change in _CHANGES:
        if isinstance(node, kind):
            yield from change(node)


def _change_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    for place, operator in enumerate(node.ops):
        changed = copy.deepcopy(node)
        changed.ops[place] = _COMPARED[type(operator)]()
        yield changed


def _change_alternatives(node: ast.BoolOp) -> Iterator[ast.AST]:
    changed = copy.deepcopy(node)
    changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield changed
    for place in range(len(node.values)):
        rest = [value for other, value in enumerate(node.values) if other != place]
        yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _change_arithmetic(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in _COMPUTED:
        changed = copy.deepcopy(node)
        changed.op = _COMPUTED[type(node.op)]()
        yield changed


def _change_sign(node: ast.UnaryOp) -> Iterator[ast.AST]:
    yield node.operand


def _change_constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node.value, float):
        yield ast.Constant(node.value * 2 if node.value else 1.0)
        yield ast.Constant(node.value / 2 if node.value else -1.0)


def _change_result(node: ast.Return) -> Iterator[ast.AST]:
    # None and booleans are left out: None and False have the same effect, and booleans are negated
    # by another mutation.
    if node.value is not None and not (
        isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool | None)
    ):
        yield ast.Return(ast.Constant(None))


def _change_step(node: ast.AugAssign) -> Iterator[ast.AST]:
    if type(node.op) in _COMPUTED:
        changed = copy.deepcopy(node)
        changed.op = _COMPUTED[type(node.op)]()
        yield changed


def _delete(node: ast.stmt) -> Iterator[ast.AST]:
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await)
    if is_call or isinstance(node, _DELETED):
        yield ast.Pass()


_CHANGES: tuple[tuple[type[ast.AST], Callable[..., Iterator[ast.AST]]], ...] = (
    (ast.Compare, _change_comparison),
    (ast.BoolOp, _change_alternatives),
    (ast.BinOp, _change_arithmetic),
    (ast.UnaryOp, _change_sign),
    (ast.Constant, _change_constant),
    (ast.Return, _change_result),
    (ast.AugAssign, _change_step),
    (ast.stmt, _delete),
)


def _shorten(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= MAX_SHOWN_CHARS else f"{line[: MAX_SHOWN_CHARS - 3]}..."
