"""A grammar (GBNF, as of llama.cpp; vLLM takes it, too) for answers that fit a schema and hold balanced PDDL.

A JSON schema can enforce that an answer has a text `domain`, but not that the text is PDDL. Small models lose
parentheses; under this grammar they cannot.
"""

from __future__ import annotations

import json
from typing import Any

PDDL = "pddl"
"""The `format` of a schema's text that is PDDL: one s-expression, or nothing."""

_RULES = r"""
ws ::= [ \t\n]*
string ::= "\"" ( [^"\\\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] ) )* "\""
number ::= "-"? [0-9]+ ( "." [0-9]+ )? ( [eE] [-+]? [0-9]+ )?
boolean ::= "true" | "false"
pddl ::= "\"" gap ( list gap )? "\""
list ::= "(" gap ( ( atom | list ) gap )* ")"
atom ::= [a-zA-Z0-9_?:=<>+*/.-]+
gap ::= ( " " | "\\n" | "\\t" )*
"""  # noqa: E501
_KINDS = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean"}


def grammar_of(schema: dict[str, Any]) -> str:
    """The grammar of a flat object: every property once, in the schema's order.

    Empty for a schema with nested objects or lists.
    """
    parts = []
    for name, field in schema.get("properties", {}).items():
        rule = PDDL if field.get("format") == PDDL else _KINDS.get(field.get("type", ""))
        if rule is None:
            return ""
        key = json.dumps(json.dumps(name))  # a quoted key, as a literal of the grammar
        parts.append(f'{key} ws ":" ws {rule}')
    members = ' ws "," ws '.join(parts)
    return f'root ::= "{{" ws {members} ws "}}"{_RULES}'
