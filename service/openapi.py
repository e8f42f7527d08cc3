"""The OpenAPI 3.1 document, generated from the route table, the bodies and the table of refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from starlette.responses import Response

from service import errors
from service.errors import ErrorBody, Refusal
from service.web import Nothing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.requests import Request

    from service.web import Operation

_REF: Final = "#/components/schemas/{name}"
_EVERY_CALL: Final = (
    errors.MALFORMED_REQUEST,
    errors.HEAD_TOO_LARGE,
    errors.REQUEST_INCOMPLETE,
    errors.INVALID_QUERY,
    errors.UNAUTHENTICATED,
    errors.ADMISSION_REFUSED,
    errors.POOL_EXHAUSTED,
)
_EVERY_DATABASE_CALL: Final = (
    errors.DEADLINE_PASSED,
    errors.DATABASE_UNAVAILABLE,
    errors.DATABASE_BUSY,
    errors.INTERNAL_ERROR,
)
_EVERY_COMMAND: Final = (
    errors.MALFORMED_JSON,
    errors.INVALID_BODY,
    errors.PAYLOAD_TOO_LARGE,
    errors.IDEMPOTENCY_KEY_REQUIRED,
    errors.IDEMPOTENCY_KEY_INVALID,
    errors.IDEMPOTENCY_FINGERPRINT_CONFLICT,
    errors.IDEMPOTENCY_IN_PROGRESS,
    errors.OUTCOME_UNKNOWN,
)


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the document as builtins, ready to be encoded."""
    bodies = [operation.body for operation in operations if operation.body is not None]
    shapes = [*bodies, *(operation.answer for operation in operations), ErrorBody]
    _, schemas = msgspec.json.schema_components(dict.fromkeys(shapes), ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Reservation control plane", "version": "1"},
        "paths": paths,
        "security": [{"bearer": []}],
        "components": {
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


class Document:
    """Answers /openapi.json, encoded once."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._body = msgspec.json.encode(document(operations))

    async def show(self, _: Request) -> Response:
        """Answer with the document."""
        return Response(self._body, media_type="application/json")


def refusals(operation: Operation) -> list[Refusal]:
    """Return every refusal that an operation may answer, each once, by status and code."""
    found = {*_EVERY_CALL, *_EVERY_DATABASE_CALL, *operation.refusals}
    if operation.command:
        found |= set(_EVERY_COMMAND)
    if operation.admin:
        found.add(errors.FORBIDDEN)
    if "{id}" in operation.path:
        found.add(operation.missing)
    return sorted(found, key=lambda refusal: (refusal.status, refusal.code))


def _operation(operation: Operation) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": list(_parameters(operation)),
        "responses": {
            str(operation.status): {
                "description": operation.summary,
                "headers": _headers(operation),
                "content": _json(operation.answer),
            },
            **_refusal_responses(refusals(operation)),
        },
    }
    if operation.body is not None:
        told["requestBody"] = {"required": operation.body is not Nothing, "content": _json(operation.body)}
    return told


def _parameters(operation: Operation) -> Iterable[dict[str, Any]]:
    whole = {"type": "integer", "minimum": 0}
    if "{id}" in operation.path:
        yield {"name": "id", "in": "path", "required": True, "schema": {**whole, "maximum": 10**18 - 1}}
    for name in operation.query or {}:
        yield {"name": name, "in": "query", "schema": {**whole, "maximum": 10**18 - 1}}
    if operation.command:
        schema = {"type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": 255}
        yield {"name": "Idempotency-Key", "in": "header", "required": True, "schema": schema}


def _headers(operation: Operation) -> dict[str, Any]:
    told: dict[str, Any] = {"X-Request-Id": {"schema": {"type": "string"}}}
    if operation.command:
        told["Idempotency-Replayed"] = {"schema": {"enum": ["true", "false"]}}
        told["Admission"] = {"schema": {"enum": ["redis", "local-fallback"]}}
    return told


def _refusal_responses(refused: Sequence[Refusal]) -> dict[str, Any]:
    by_status: dict[int, list[Refusal]] = {}
    for refusal in refused:
        by_status.setdefault(refusal.status, []).append(refusal)
    return {
        str(status): {
            "description": " ".join(f"{refusal.code}: {refusal.sentence}" for refusal in group),
            "content": _json(ErrorBody),
        }
        for status, group in by_status.items()
    }


def _json(shape: type) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REF.format(name=shape.__name__)}}}
