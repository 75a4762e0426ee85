"""Caches without a bound, found in source text: every one names how many entries it may hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# The name of a cache's bound. `functools.cache` has none, so it is never bounded.
BOUNDS = {"cache_data": "max_entries", "cache_resource": "max_entries", "lru_cache": "maxsize", "cache": None}


def caches(source: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield the name of every cache that a source makes, and the expression that makes it.

    A cache is made where its maker is called or stands as a decorator. ``.clear`` and the like make none, nor
    does an import.
    """
    tree = ast.parse(source)
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
        if isinstance(node, ast.Attribute | ast.Name) and name in BOUNDS and id(node) not in inside:
            yield name, called.get(id(node), node)


def unbounded(source: str) -> list[str]:
    """Return the caches of a source that name no bound, or none as their bound."""
    return [ast.unparse(made) for name, made in caches(source) if not _names(made, BOUNDS[name])]


def _names(made: ast.expr, bound: str | None) -> bool:
    if not isinstance(made, ast.Call):
        return False
    given = [word.value for word in made.keywords if word.arg == bound]
    return bool(given) and not any(isinstance(value, ast.Constant) and value.value is None for value in given)
