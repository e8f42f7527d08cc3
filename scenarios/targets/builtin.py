"""The built-in reservation service as a target: known by its public API, its documented codes and its tables alone."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Final

import jwt

from scenarios.targets.builtin_actions import ACTIONS, WARM, creation
from scenarios.targets.builtin_evidence import REFUSALS, TABLES, UNSETTLED, tables_under
from scenarios.targets.builtin_times import PERMITS, times
from scenarios.targets.errands import run_errands
from scenarios.targets.target import Actor, Node, Stage, Subject, TargetError
from scenarios.targets.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenarios.scenario import Sale
    from scenarios.targets.target import Value

TENANT: Final = "lastseat"
_TOKEN_SECONDS: Final = 86_400  # outlives any run and any skewed clock
_SECRET_BYTES: Final = 32
_PREPARE_CONNECTIONS: Final = 8
_PREPARE_DEADLINE_SECONDS: Final = 30.0


class Builtin:
    """The target `lastseat` ships; each instance has its own secrets, so that one run's tokens open no other's door."""

    name = "builtin"
    actions = ACTIONS
    warm = WARM
    tables = TABLES
    tables_under = staticmethod(tables_under)
    refusals = REFUSALS
    unsettled = UNSETTLED
    permits_setting = PERMITS

    def __init__(self) -> None:
        self._token_secret = secrets.token_hex(_SECRET_BYTES)
        self._owner_secret = secrets.token_hex(_SECRET_BYTES)

    def environment(self, sale: Sale) -> Mapping[str, str]:
        """Return the settings of its nodes and workers: the run's secrets, and its times scaled to the sale."""
        return {
            "RESERVATION_TOKEN_SECRET": self._token_secret,
            "RESERVATION_OWNER_SECRET": self._owner_secret,
            PERMITS: "1024",
            **times(sale),
        }

    async def prepare(self, nodes: Sequence[Node], sale: Sale, *, run: str, actors: int) -> Stage:
        """Create what is on sale over the public admin API and issue everyone a token; raises TargetError, TimeoutError."""
        admin = self.admin_token()
        errands: list[dict[str, Value]] = [
            {"token": admin, "key": f"{run}-resource-{i}", "code": f"{run}-{i}"}
            for i in range(sale.resources)
        ]
        made = await run_errands(
            nodes[0],
            Wording(creation(sale), nodes[0]),
            errands,
            expected_status=201,
            concurrency=_PREPARE_CONNECTIONS,
            deadline_seconds=_PREPARE_DEADLINE_SECONDS,
        )
        return Stage(
            resources=tuple(_subject(answer, organiser=admin) for answer in made),
            actors=tuple(self._actor(number) for number in range(actors)),
        )

    def admin_token(self) -> str:
        """Return a token of someone who may create and close resources."""
        return self._token("opening-night", role="admin")

    def _actor(self, number: int) -> Actor:
        owner = f"buyer-{number}"
        return Actor(owner=owner, tenant=TENANT, values={"token": self._token(owner)})

    def _token(self, owner: str, *, role: str = "buyer") -> str:
        claims = {"sub": owner, "tenant": TENANT, "role": role, "exp": int(time.time()) + _TOKEN_SECONDS}
        return jwt.encode(claims, self._token_secret, algorithm="HS256")


def _subject(answer: Mapping[str, object], *, organiser: str) -> Subject:
    made, revision = answer.get("id"), answer.get("revision", 0)
    if not isinstance(made, int) or not isinstance(revision, int):
        raise TargetError(f"create_resource: the answer names no id and revision: {answer}")
    return Subject(id=str(made), values={"resource": made, "revision": revision, "organiser": organiser})
