"""Who calls: a bearer token's subject and tenant, and the digest under which an owner is stored."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import jwt

from service import errors
from service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.settings import Settings

_TENANT: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SUBJECT_CHARS_MAX: Final = 255
_ALGORITHM: Final = "HS256"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A known caller: tenant, the digest of the owner, and whether it administers the tenant."""

    tenant: str
    owner_digest: str
    admin: bool = False


def owner_digest(secret: str, *, tenant: str, subject: str) -> str:
    """Return the HMAC-SHA-256 of tenant and subject, in hexadecimal.

    Both are length-prefixed: ("ab", "c") and ("a", "bc") must not be one owner.
    """
    parts = (part.encode() for part in (tenant, subject))
    message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


class Tokens:
    """Tells who sent a request; a token that was verified is known again until it expires (bounded)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._verified: dict[str, tuple[Caller, float]] = {}  # header → caller, when to verify it again

    def caller(self, headers: Mapping[str, str]) -> Caller:
        """Return who sent `headers`; raises Refused (UNAUTHENTICATED).

        `X-Reservation-Owner` alone is believed only with the setting `trust_owner_header`.
        """
        authorization = headers.get("authorization")
        if authorization is None:
            owner = headers.get("x-reservation-owner")
            if not (self._settings.trust_owner_header and owner):
                raise Refused(errors.UNAUTHENTICATED)
            return self._known({"tenant": self._settings.trusted_tenant, "sub": owner})
        known = self._verified.get(authorization)
        if known is not None and time.time() < known[1]:
            return known[0]
        return self._verify(authorization)

    def _verify(self, authorization: str) -> Caller:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise Refused(errors.UNAUTHENTICATED)
        try:
            claims = jwt.decode(
                token,
                self._settings.token_secret,
                algorithms=[_ALGORITHM],
                leeway=self._settings.token_leeway_seconds,
                options={"require": ["exp", "sub"], "verify_aud": False},
            )
            expires_at = float(claims["exp"])
        except (jwt.InvalidTokenError, ValueError, TypeError, OverflowError, RecursionError):
            raise Refused(errors.UNAUTHENTICATED) from None  # a claim may be any JSON, a number of any size
        caller = self._known(claims)
        if len(self._verified) >= self._settings.token_cache:
            del self._verified[next(iter(self._verified))]
        self._verified[authorization] = (caller, expires_at)
        return caller

    def _known(self, claims: Mapping[str, object]) -> Caller:
        tenant, subject = claims.get("tenant"), claims.get("sub")
        if not isinstance(tenant, str) or not _TENANT.fullmatch(tenant):
            raise Refused(errors.UNAUTHENTICATED)
        if not isinstance(subject, str) or not 0 < len(subject) <= _SUBJECT_CHARS_MAX:
            raise Refused(errors.UNAUTHENTICATED)
        try:
            digest = owner_digest(self._settings.owner_secret, tenant=tenant, subject=subject)
        except UnicodeEncodeError:  # half a surrogate pair is JSON, but no text
            raise Refused(errors.UNAUTHENTICATED) from None
        return Caller(tenant=tenant, owner_digest=digest, admin=claims.get("role") == "admin")
