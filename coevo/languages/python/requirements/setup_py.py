"""Read the arguments of `setup` in setup.py without running it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from coevo.languages.python.requirements.stated import FILES, StatedRequirements

_UNKNOWN = object()
_DEEP = 100  # limit of nesting, such as the parts of a sum
_LIST = re.compile(r'(?:[\w.-]+/)*[\w.-]+\.(?:txt|in)')
_NAMED_LIST = re.compile(r'[\w./-]+\.(txt|in|pip)')
# Files that setup.py reads for other arguments: their lines could be taken for requirements.
_TEXT = re.compile(
    'readme|change|history|news|licen[cs]e|authors|version|manifest|description', re.IGNORECASE
)
# Words in conditions that select other interpreters or systems.
_ELSEWHERE = frozenset({'version_info', 'hexversion', 'platform', 'PY2', 'python_version', 'name'})


def parse_setup_py(source: bytes) -> StatedRequirements:
    """Return the requirements that setup.py states; none if this Python cannot parse it."""
    module = parse_module(source)
    if module is None:
        return StatedRequirements()
    names = _evaluate_assignments(module)
    arguments: dict[str, Any] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _get_called_name(node.func) == 'setup':
            arguments |= dict(_evaluate_arguments(node, names))
    extras = arguments.get('extras_require')
    groups = {
        name: tuple(_split_lines(lines))
        for name, lines in (extras if isinstance(extras, dict) else {}).items()
        if isinstance(name, str)
    }
    groups['tests'] = (*groups.get('tests', ()), *_split_lines(arguments.get('tests_require')))
    points = arguments.get('entry_points')
    return StatedRequirements(
        name=_as_text(arguments.get('name')),
        version=_as_text(arguments.get('version')),
        python=_as_text(arguments.get('python_requires')),
        runtime=tuple(_split_lines(arguments.get('install_requires'))),
        groups={name: lines for name, lines in groups.items() if lines},
        entry_points={
            name: tuple(_split_lines(lines))
            for name, lines in (points if isinstance(points, dict) else {}).items()
            if isinstance(name, str)
        },
    )


def find_requirement_list_paths(source: bytes) -> tuple[str, ...]:
    """Return the strings in a build program that look like paths of requirement lists, each once.

    Example: `requirements/test.txt` in `open('requirements/test.txt')`.
    """
    module = parse_module(source)
    nodes = ast.walk(module) if module is not None else ()
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    return tuple(
        dict.fromkeys(text for text in texts if isinstance(text, str) and _LIST.fullmatch(text))
    )


def parse_module(source: bytes) -> ast.Module | None:
    """Return the syntax tree of a program; None if this Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _get_called_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, 'id', '')


def _evaluate_arguments(call: ast.Call, names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword in call.keywords:
        value = _evaluate(keyword.value, names)
        if keyword.arg is not None:
            yield keyword.arg, value
        elif isinstance(value, dict):
            yield from ((name, item) for name, item in value.items() if isinstance(name, str))


def _evaluate_assignments(module: ast.Module) -> dict[str, Any]:
    """Return the values of the module's names, as far as they can be evaluated without running it.

    The last assignment counts. Additions to lists and tables (`append`, `+=`) are applied.
    """
    names: dict[str, Any] = {}
    for node in _list_executed_statements(module.body):
        match node:
            case ast.Assign():
                value = _evaluate(node.value, names)
                for target in node.targets:
                    _assign_target(target, value, names)
            case ast.With() | ast.FunctionDef():
                names |= _find_requirement_list_names(node, names)
            case ast.AugAssign(op=ast.Add()):
                _extend_holder(_evaluate(node.target, names), _evaluate(node.value, names))
            case ast.Expr(value=ast.Call(func=ast.Attribute() as method, args=[argument])):
                value = _evaluate(argument, names)
                added = [value] if method.attr == 'append' else value
                if method.attr in ('append', 'extend', 'update'):
                    _extend_holder(_evaluate(method.value, names), added)
    return names


def _list_executed_statements(body: Sequence[ast.stmt], depth: int = 0) -> Iterator[ast.stmt]:
    """Yield the statements that run when no exception occurs.

    Bodies of functions count as run. Of an `if` the first branch counts and `else` does not. A
    condition on a version or a system is itself yielded, but not its branches.
    """
    for node in body:
        match node:
            case ast.If() if (
                not _ELSEWHERE.intersection(_list_names_in(node.test)) and depth < _DEEP
            ):
                yield from _list_executed_statements(node.body, depth + 1)
            case ast.With() | ast.FunctionDef() if depth < _DEEP:
                yield node
                yield from _list_executed_statements(node.body, depth + 1)
            case ast.Try() if depth < _DEEP:
                yield from _list_executed_statements(node.body, depth + 1)
            case _:
                yield node


def _list_names_in(node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        yield getattr(part, 'attr', '') or getattr(part, 'id', '')


def _assign_target(target: ast.expr, value: Any, names: dict[str, Any]) -> None:
    if isinstance(target, ast.Name):
        names[target.id] = value
    elif isinstance(target, ast.Subscript):
        holder, key = _evaluate(target.value, names), _evaluate(target.slice, names)
        if isinstance(holder, dict) and isinstance(key, str):
            holder[key] = value


def _extend_holder(holder: Any, value: Any) -> None:
    """Add a list to a list, or a table to a table, in place; do nothing for other values."""
    if isinstance(holder, list) and isinstance(value, list):
        holder += value
    elif isinstance(holder, dict) and isinstance(value, dict):
        holder |= value


def _evaluate(node: ast.expr, names: dict[str, Any], depth: int = 0) -> Any:
    """Return the value of an expression; _UNKNOWN if it cannot be evaluated.

    Known are literals, names of these, sums of lists, items of tables, and calls that mention
    requirement lists. The value of such a call is the list of the marks `FILES PATH`.
    """
    if depth > _DEEP:
        return _UNKNOWN
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple() | ast.Set():
            return [_evaluate(part, names, depth + 1) for part in node.elts]
        case ast.Dict():
            keys = [_evaluate(key, names, depth + 1) if key else None for key in node.keys]
            values = [_evaluate(part, names, depth + 1) for part in node.values]
            return {
                key: part for key, part in zip(keys, values, strict=True) if isinstance(key, str)
            }
        case ast.Name():
            return names.get(node.id, _UNKNOWN)
        case ast.BinOp(op=ast.Add()):
            left, right = (_evaluate(part, names, depth + 1) for part in (node.left, node.right))
            known = [part for part in (left, right) if isinstance(part, list)]
            return [item for part in known for item in part] if known else _UNKNOWN
        case ast.Subscript():
            holder, key = (
                _evaluate(node.value, names, depth + 1),
                _evaluate(node.slice, names, depth + 1),
            )
            is_member = isinstance(holder, dict) and isinstance(key, str)
            return holder.get(key, _UNKNOWN) if is_member else _UNKNOWN
        case ast.Call() if _get_called_name(node.func) == 'dict':
            return dict(_evaluate_arguments(node, names))
        case ast.Call() | ast.ListComp():
            return list(_find_requirement_list_marks(node, names)) or _UNKNOWN
    return _UNKNOWN


def _find_requirement_list_names(
    node: ast.With | ast.FunctionDef, names: dict[str, Any]
) -> dict[str, Any]:
    """Return names that stand for requirement lists, with their marks `FILES PATH`.

    Such a name is bound by `with open(…) as`, or is that of a function whose body names a list.
    """
    if isinstance(node, ast.FunctionDef):
        lines = list(_find_requirement_list_marks(node, {}))
        return {node.name: lines} if lines else {}
    opened = (
        (with_item.optional_vars, _evaluate(with_item.context_expr, names))
        for with_item in node.items
    )
    return {target.id: value for target, value in opened if isinstance(target, ast.Name)}


def _find_requirement_list_marks(node: ast.AST, names: dict[str, Any]) -> Iterator[str]:
    """Yield the mark `FILES PATH` of each requirement list that a syntax node names.

    Used where the node cannot be evaluated.
    """
    file_names: dict[str, None] = {}
    joined: set[ast.AST] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and _get_called_name(part.func) == 'join':
            words = [item for item in part.args if isinstance(item, ast.Constant)]
            file_names['/'.join(str(item.value) for item in words)] = None
            joined.update(words)
        elif isinstance(part, ast.Constant) and part not in joined:
            file_names[str(part.value)] = None
        elif isinstance(part, ast.Name):
            known = names.get(part.id)
            lines = known if isinstance(known, list) else [known]
            yield from (item for item in lines if isinstance(item, str) and item.startswith(FILES))
            file_names |= dict.fromkeys(item for item in lines if isinstance(item, str))
    yield from (
        f'{FILES} {name}'
        for name in file_names
        if _NAMED_LIST.fullmatch(name) and not _TEXT.search(name)
    )


def _split_lines(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.splitlines()
    elif isinstance(value, list):
        yield from (line for line in value if isinstance(line, str))


def _as_text(value: object) -> str | None:
    return value if isinstance(value, str) else None
