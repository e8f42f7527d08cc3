"""What broke a run is what is told of it, though its database cannot be dropped any more either."""

from __future__ import annotations

from typing import Any

import pytest

from lastseat.errors import LabError
from lastseat.run import database


class Gone:
    """A lab whose PostgreSQL has gone since the database was made."""

    async def create_database(self, name: str, template: str) -> str:
        return f"postgresql://127.0.0.1/{name}?{template}"

    async def drop_database(self, dsn: str) -> None:
        raise LabError(f"PostgreSQL does not let the lab in to drop {dsn}")


async def test_the_first_failure_is_the_one_that_is_told() -> None:
    lab: Any = Gone()
    with pytest.raises(LookupError, match="the load is lost"):
        async with database(lab, "sale", "template", None):
            raise LookupError("the load is lost")


async def test_a_database_that_cannot_be_dropped_after_a_run_that_went_well_is_told() -> None:
    lab: Any = Gone()
    with pytest.raises(LabError, match="to drop"):
        async with database(lab, "sale", "template", None):
            pass
