"""From an HTTP request to a call and from an answer, or a refusal, back to a response."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from service import deadline, errors
from service.errors import ErrorBody, Refusal, Refused
from service.logs import REQUEST_ID

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    from service.metrics import NodeMetrics
    from service.reservation.admission.gate import Gate
    from service.settings import Settings
    from service.tokens import Caller, Tokens

LOG: Final = logging.getLogger("service.web")
_ENCODE: Final = msgspec.json.Encoder().encode
_PRINTABLE: Final = re.compile(r"[!-~]+")
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_BIGINT_DIGITS: Final = 18  # any number of so many digits fits; longer ones are nobody's id
_SERVER_ERROR: Final = 500


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a command that takes none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that has been read: who calls, for which id, with what body and under which key."""

    caller: Caller
    id: int = 0
    body: Any = None
    key: str = ""
    query: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is answered; `replayed` is None where nothing could have been replayed."""

    status: int
    body: str | bytes
    replayed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One row of the route table: where it is, what it takes and gives, who may call it, and what carries it out."""

    name: str
    method: Literal["GET", "POST"]
    path: str
    summary: str
    handle: Callable[[Call], Awaitable[Reply]]
    answer: type
    status: int = 200
    body: type | None = None
    query: dict[str, int] | None = None  # names and defaults
    missing: Refusal = errors.NOT_FOUND  # what an id that cannot exist is answered
    admin: bool = False
    refusals: tuple[Refusal, ...] = ()  # the rules' own, for the document

    @property
    def command(self) -> bool:
        """Whether it changes something, and so needs a key."""
        return self.method == "POST"


class Endpoint:
    """Reads the request for one operation, admits it, calls it and writes its answer."""

    def __init__(
        self, operation: Operation, gate: Gate, metrics: NodeMetrics, tokens: Tokens, settings: Settings
    ) -> None:
        self.operation = operation
        self._gate = gate
        self._metrics = metrics
        self._settings = settings
        self._tokens = tokens

    async def __call__(self, request: Request) -> Response:
        """Answer one request and count it."""
        began = time.perf_counter()
        response = await self._answer(request)
        self._metrics.answered(self.operation.name, response.status_code, time.perf_counter() - began)
        return response

    async def _answer(self, request: Request) -> Response:
        """Answer one request; every failure becomes a row of the table of refusals."""
        given = request.headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        REQUEST_ID.set(request_id)
        headers = {"X-Request-Id": request_id}
        try:
            call = await self._read(request)
            # From here on it is the service that takes the time, and no longer the client who sends.
            deadline.start(self._settings.command_deadline_ms / 1_000)
            async with self._gate.admit(self._scope(call)) as way:
                if way is not None:
                    headers["Admission"] = way
                reply = await self.operation.handle(call)
        except Refused as refused:
            return _refused(refused, headers, command=self.operation.command)
        except asyncio.CancelledError:
            # The node's end cuts off what lasts too long (nothing else cancels a request); its client is told so.
            cut_off = errors.OUTCOME_UNKNOWN if self.operation.command else errors.DATABASE_BUSY
            return _refused(Refused(cut_off), headers, command=self.operation.command)
        except Exception:
            LOG.exception("unforeseen failure", extra={"facts": {"operation": self.operation.name}})
            return _refused(Refused(errors.INTERNAL_ERROR), headers, command=self.operation.command)
        if reply.replayed is not None:
            headers["Idempotency-Replayed"] = "true" if reply.replayed else "false"
        return Response(reply.body, status_code=reply.status, headers=headers, media_type="application/json")

    def _scope(self, call: Call) -> str | None:
        """Return what makes a command's twin a twin; of the operation the name is enough here."""
        return f"{call.caller.tenant}:{self.operation.name}:{call.key}" if self.operation.command else None

    async def _read(self, request: Request) -> Call:
        operation = self.operation
        caller = self._tokens.caller(request.headers)
        if operation.admin and not caller.admin:
            raise Refused(errors.FORBIDDEN)
        return Call(
            caller=caller,
            id=_id(request.path_params.get("id"), operation.missing),
            key=_key(request, self._settings) if operation.command else "",
            body=await _body(request, operation, self._settings) if operation.command else None,
            query=_query(request, operation.query or {}),
        )


def _id(text: str | None, missing: Refusal) -> int:
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= _BIGINT_DIGITS):
        raise Refused(missing)
    return int(text)


def _key(request: Request, settings: Settings) -> str:
    keys = request.headers.getlist("idempotency-key")
    if not keys:
        raise Refused(errors.IDEMPOTENCY_KEY_REQUIRED)
    key = keys[0]
    if len(keys) > 1 or len(key) > settings.idempotency_key_chars_max or not _PRINTABLE.fullmatch(key):
        raise Refused(errors.IDEMPOTENCY_KEY_INVALID)
    return key


async def _body(request: Request, operation: Operation, settings: Settings) -> Any:
    """Read no more and no longer than the limits, whatever Content-Length claims; an empty body is an empty object."""
    raw = b""
    try:
        async with asyncio.timeout(settings.request_seconds):
            async for chunk in request.stream():
                raw += chunk
                if len(raw) > settings.body_bytes_max:
                    raise Refused(errors.PAYLOAD_TOO_LARGE)
    except (TimeoutError, ClientDisconnect, asyncio.CancelledError):
        raise Refused(errors.REQUEST_INCOMPLETE) from None
    try:
        return msgspec.json.decode(raw or b"{}", type=operation.body or Nothing)
    except msgspec.ValidationError:
        raise Refused(errors.INVALID_BODY) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(errors.MALFORMED_JSON) from None


def _query(request: Request, defaults: dict[str, int]) -> dict[str, int]:
    values = dict(defaults)
    for name, text in request.query_params.multi_items():
        if name not in defaults or not (text.isascii() and text.isdigit() and len(text) <= _BIGINT_DIGITS):
            raise Refused(errors.INVALID_QUERY)
        values[name] = int(text)
    return values


def _refused(refused: Refused, headers: dict[str, str], *, command: bool) -> Response:
    refusal = refused.refusal
    if refusal.status >= _SERVER_ERROR:
        cause = refused.__cause__
        facts = {"code": refusal.code, "cause": f"{type(cause).__name__}: {cause}" if cause else None}
        LOG.warning("refused", extra={"facts": facts})
    if command:
        headers["Idempotency-Replayed"] = "false"
    if refused.retry_after_ms is not None:
        headers["Retry-After"] = str(-(-refused.retry_after_ms // 1_000))
    if refusal is errors.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = "Bearer"
    if refusal is errors.REQUEST_INCOMPLETE:
        headers["Connection"] = "close"
    body = ErrorBody(code=refusal.code, message=refusal.sentence, retry_after_ms=refused.retry_after_ms)
    return Response(_ENCODE(body), status_code=refusal.status, headers=headers, media_type="application/json")


async def unrouted(_: Request, error: HTTPException) -> Response:
    """Answer what no route takes: a path that is not there or a method that it does not know."""
    by_status = {404: errors.NOT_FOUND, 405: errors.METHOD_NOT_ALLOWED}
    refusal = by_status.get(error.status_code, errors.NOT_FOUND)
    return _refused(Refused(refusal), dict(error.headers or {}), command=False)


async def unforeseen(_: Request, __: Exception) -> Response:
    """Answer where something failed outside the operations; the server logs what it was."""
    return _refused(Refused(errors.INTERNAL_ERROR), {}, command=False)
