"""What the grammar of a language tells of its nodes."""

from __future__ import annotations

from tree_sitter import Language


def list_fixed_node_kinds(language: Language) -> frozenset[str]:
    """The kinds of nodes that are their own text: words and signs without a name in the grammar."""
    kinds = range(language.node_kind_count)
    named = {language.node_kind_for_id(kind) for kind in kinds if language.node_kind_is_named(kind)}
    return frozenset(
        text
        for kind in kinds
        if language.node_kind_is_visible(kind)
        and (text := language.node_kind_for_id(kind)) is not None
        and text not in named
    )
