"""What was asked of the service, and what it said."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A command as it is sent: enough to send it again."""

    operation: str
    scope: str  # the operation's name where its key is unique
    id: int
    body: Any
    owner: str
    key: str
    row: dict[str, Any] | None = None  # what it is done to, as last seen

    def __str__(self) -> str:
        return f"{self.key} {self.operation}({self.id}) by {self.owner}: {self.body}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one attempt was told: an answer, or a refusal that is not stored (`refused`)."""

    request: Request
    altered: bool = False  # its key is another command's
    status: int = 0
    body: str = ""
    replayed: bool = False
    refused: str | None = None

    @property
    def code(self) -> str | None:
        """The code of a refusal, stored or not; None for a success."""
        return self.refused or (json.loads(self.body)["code"] if self.status >= 400 else None)

    def __str__(self) -> str:
        told = self.refused or f"{self.status} {self.body}"
        return f"{self.request} → {told}{' (replayed)' * self.replayed}"
