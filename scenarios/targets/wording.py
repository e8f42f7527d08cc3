"""Compiles an action into the bytes of an HTTP/1.1 request, so that no template is interpreted per request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scenarios.targets.target import Action, Node, Value

_SLOT = re.compile(r"\$\{([a-z_]+)\}")
_BREAKS = re.compile(r"[\r\n\0]")


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it goes onto the wire, and the parts by which its digest is made."""

    wire: bytes
    line: bytes
    body: bytes


class Wording:
    """One action towards one node: `word(values)` gives the request's bytes."""

    __slots__ = ("_body", "_head", "_path", "action", "slots")

    def __init__(self, action: Action, node: Node) -> None:
        """Compile; raises TargetError on a header that would break the request."""
        self.action = action
        headers = {"Host": f"{node.host}:{node.port}", **action.headers}
        if action.body is not None:
            headers = {**headers, "Content-Type": "application/json"}
        self._path = _Text(action.path, _path_safe)
        self._head = _Text("".join(f"{name}: {value}\r\n" for name, value in headers.items()), _header_safe)
        self._body = _Text("" if action.body is None else _json_template(action.body), _json)
        self.slots = self._path.slots | self._head.slots | self._body.slots

    def word(self, values: Mapping[str, Value]) -> Request:
        """Fill the slots; raises TargetError where a value is missing or would break the request."""
        try:
            line = f"{self.action.method} {self._path.fill(values)}"
            head, body = self._head.fill(values), self._body.fill(values).encode()
        except KeyError as missing:
            raise TargetError(
                f"{self.action.kind}: nothing fills the slot {missing} of its request"
            ) from None
        length = f"Content-Length: {len(body)}\r\n" if body or self.action.method != "GET" else ""
        return Request(f"{line} HTTP/1.1\r\n{head}{length}\r\n".encode("latin-1") + body, line.encode(), body)


class _Text:
    """Literals and slots in turn; a text without slots is filled once."""

    __slots__ = ("_encode", "_literals", "_names", "slots")

    def __init__(self, text: str, encode: Callable[[Value], str]) -> None:
        parts = _SLOT.split(text)
        self._literals = parts[0::2]
        self._names = parts[1::2]
        self._encode = encode
        self.slots = frozenset(self._names)

    def fill(self, values: Mapping[str, Value]) -> str:
        filled = self._literals[0]
        for name, literal in zip(self._names, self._literals[1:], strict=True):
            filled += self._encode(values[name]) + literal
        return filled


def _path_safe(value: Value) -> str:
    return quote(str(value), safe="")


def _header_safe(value: Value) -> str:
    text = str(value)
    if _BREAKS.search(text):
        raise TargetError("a value for a header holds a line break")
    return text


def _json(value: Value) -> str:
    return msgspec.json.encode(value).decode()


def _json_template(body: Mapping[str, object]) -> str:
    """Write the body as JSON, with exact slots left bare so that a number stays one."""
    fields = []
    for name, value in body.items():
        exact = isinstance(value, str) and _SLOT.fullmatch(value)
        if isinstance(value, str) and not exact and _SLOT.search(value):
            raise TargetError(f"in a body a slot stands alone: {value!r} mixes it with text")
        fields.append(
            f"{msgspec.json.encode(name).decode()}:{value if exact else msgspec.json.encode(value).decode()}"
        )
    return "{" + ",".join(fields) + "}"
