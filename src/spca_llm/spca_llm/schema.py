"""Answer schemas, enforced by the server, or described to the model in the prompt.

A JSON schema can enforce that an answer has a text `domain`, but not that the text is PDDL. Small models lose
parentheses; under a grammar (GBNF, as of llama.cpp; vLLM takes it, too) they cannot.
"""

from __future__ import annotations

import json
from typing import Any

from spca_core.ports.chat import Message
from spca_llm.exchange import Request

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


def enforced(request: Request) -> dict[str, Any]:
    """The `response_format` that makes a server enforce the request's schema."""
    schema = request.json_schema or {}
    strict = _closed(schema)
    return {
        "type": "json_schema",
        "json_schema": {
            "name": request.schema_name,
            "strict": strict,
            "schema": _strict(schema) if strict else schema,
        },
    }


def described(request: Request) -> list[Message]:
    """The request's messages with the schema in words at the end of the last one."""
    words = (
        "Answer with a single JSON object that fits this JSON schema, and with nothing else:\n"
        f"{json.dumps(request.json_schema)}"
    )
    *before, last = request.messages
    content = last.get("content") or ""
    if isinstance(content, str):
        return [*before, {**last, "content": f"{content}\n\n{words}"}]
    return [*before, {**last, "content": [*content, {"type": "text", "text": words}]}]


def _closed(node: Any) -> bool:
    """Return whether every object has fixed properties; only such schemas may be `strict`."""
    if isinstance(node, list):
        return all(_closed(item) for item in node)
    if not isinstance(node, dict):
        return True
    if node.get("type") == "object" and "properties" not in node:
        return False
    return all(_closed(value) for value in node.values())


def _strict(node: Any) -> Any:
    """The schema as strict servers require it.

    Every property is required, no others are allowed, and there are no defaults and only bare references.
    """
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    # The keys under `properties` and `$defs` are names, not keywords; a field may be called `title`.
    plain = {
        key: {name: _strict(value) for name, value in item.items()}
        if key in ("properties", "$defs")
        else _strict(item)
        for key, item in node.items()
        if key not in ("default", "title") and (key, item) != ("format", PDDL)
    }
    if "properties" in plain:
        plain["required"] = list(plain["properties"])
        plain["additionalProperties"] = False
    return plain


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
