"""The dependency rule, as functions of source text: each names what breaks it, and can be fed bad text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

ARITHMETIC = (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
# Two words, or any Hangul: that is language, and belongs to the catalogue.
PROSE = re.compile(r"[^\W\d_]+[,.:;!?]? [^\W\d_]+|[가-힣ㄱ-ㅎㅏ-ㅣ]")


def run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs: a name imported under ``if TYPE_CHECKING:`` serves annotations only."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")):
            yield node
            yield from run_time_nodes(node)


def imported(source: str) -> set[str]:
    """Return every module that a source imports when it runs, anywhere in it."""
    names: set[str] = set()
    for node in run_time_nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def forbidden(source: str, *packages: str) -> list[str]:
    """Return the imports of these packages or of anything inside them."""
    return sorted(
        name for name in imported(source) for package in packages if f"{name}.".startswith(f"{package}.")
    )


def for_authors(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the string nodes that no visitor sees: docstrings, and what goes to the log."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("LOG."):
            yield from node.args


def prose(source: str) -> list[str]:
    """Return the string literals that read like language to a visitor."""
    tree = ast.parse(source)
    skipped = set(for_authors(tree))
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped
        if PROSE.search(node.value)
    ]


# A comment, a regular expression as an argument, or a string: what begins first.
SCRIPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?<=\()/(?:\[[^\]\n]*\]|\\.|[^/\n])+/
    |("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)""",
    flags=re.DOTALL | re.VERBOSE,
)
TAG = re.compile(r"<!--.*?-->|<[^>]*(?:>|$)", flags=re.DOTALL)
PLACE = re.compile(r"\$\{(?:[^{}]|\{[^{}]*\})*\}")


def prose_of_markup(source: str) -> list[str]:
    """Return what a page of HTML says to a visitor by itself, tag by tag."""
    return [text.strip() for text in TAG.split(source) if PROSE.search(text) or re.search(r"[a-z]{2}", text)]


def prose_of_script(source: str) -> list[str]:
    """Return the strings of a script in JavaScript that read like language to a visitor, markup left out."""
    strings = (match[1][1:-1] for match in SCRIPT.finditer(source) if match[1])
    return [string for string in strings if PROSE.search(TAG.sub("", PLACE.sub("0", string)))]


def arithmetic(source: str) -> list[str]:
    """Return the expressions that compute more than a sum or a difference (a next row, an offset)."""
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC)
    ]
