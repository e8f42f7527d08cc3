"""A run has a database of its own, and waits for no database to be gone."""

from __future__ import annotations

from typing import Any

import pytest

from lastseat.ahead import Ahead
from lastseat.own_database import database


class Server:
    """A lab that notes which databases are to go."""

    def __init__(self) -> None:
        self.going: list[str] = []

    async def create_database(self, name: str, template: str) -> str:
        return f"postgresql://127.0.0.1/{name}?{template}"

    def leave_behind(self, dsn: str) -> None:
        self.going.append(dsn)


async def test_what_breaks_a_run_is_told_and_its_database_goes_all_the_same() -> None:
    lab: Any = Server()
    with pytest.raises(LookupError, match="the load is lost"):
        async with database(lab, Ahead(lab), "sale", "template", None):
            raise LookupError("the load is lost")
    assert lab.going == ["postgresql://127.0.0.1/sale?template"]


async def test_it_goes_after_a_run_and_not_before() -> None:
    lab: Any = Server()
    async with database(lab, Ahead(lab), "sale", "template", None) as dsn:
        assert lab.going == []
    assert lab.going == [dsn]
