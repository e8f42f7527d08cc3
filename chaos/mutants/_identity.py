"""A header that says who asks is believed, also beside a token that says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from service.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.tokens import Caller

REPORTS: Final = (
    "long2ice/fastapi-limiter#10",
    "express-rate-limit/express-rate-limit#134",
    "leodip/goiabada#87",
)
"""The public reports of a header that was believed."""


def believe_the_header() -> None:
    """Let the header have the last word."""
    healthy = Tokens.caller

    def caller(self: Tokens, headers: Mapping[str, str]) -> Caller:
        known, owner = healthy(self, headers), headers.get("x-reservation-owner")
        return self._known({"tenant": known.tenant, "sub": owner}) if owner else known

    Tokens.caller = caller  # type: ignore[method-assign]  # that is how a bug is planted
