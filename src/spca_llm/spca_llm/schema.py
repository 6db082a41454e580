"""Answer schemas, enforced by the server, or described to the model in the prompt."""

from __future__ import annotations

import json
from typing import Any

from spca_core.ports.chat import Message
from spca_llm.exchange import Request


def enforced(request: Request) -> dict[str, Any]:
    """Return the field of a request's body that makes a server enforce the schema."""
    schema = request.json_schema or {}
    strict = _closed(schema)
    wanted = {"name": request.schema_name, "strict": strict, "schema": _strict(schema) if strict else schema}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}}


def described(request: Request) -> list[Message]:
    """Return the request's messages with the schema, if there is one, in words at the end of the last."""
    if request.json_schema is None:
        return list(request.messages)
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
    """Return the schema as strict servers require it.

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
        if key not in ("default", "title")
    }
    if "properties" in plain:
        plain["required"] = list(plain["properties"])
        plain["additionalProperties"] = False
    return plain
