"""The journal remembers everything that was sent, and says clearly when it cannot be believed."""

from __future__ import annotations

import multiprocessing
import os
import signal
from typing import TYPE_CHECKING

import msgspec
import pytest

from checker.schemas import OPERATIONS
from scenarios.history import JournalUnreadable, admissions, gather, read_journal, write_history
from scenarios.journal import (
    HEADER_BYTES,
    NOTHING,
    SLOT_BYTES,
    Failure,
    Header,
    Journal,
    JournalFull,
    JournalTextTooLong,
    Outcome,
    digest,
)

if TYPE_CHECKING:
    from pathlib import Path

HEADER = Header(
    run="r1",
    shard=3,
    capacity=8,
    kinds=("hold", "confirm"),
    nodes=("node-a", "node-b"),
    tenants=("lastseat",),
)


def invoke(
    journal: Journal, arrival: int = 1, *, race: int = NOTHING, key: bytes = b"r1-1", kind: int = 0
) -> int:
    return journal.invoke(
        kind=kind,
        node=1,
        tenant=0,
        attempt=1,
        arrival=arrival,
        race=race,
        quantity=2,
        intended_ns=100,
        key=key,
        owner="käufer-1".encode(),
        subject=b"77",
        request_digest=digest(b"POST", b"{}"),
    )


def complete(journal: Journal, slot: int, *, admission: int = 0) -> None:
    journal.complete(
        slot,
        outcome=Outcome.FAIL,
        failure=Failure.NONE,
        replayed=True,
        status=409,
        done_ns=300,
        code=b"SOLD_OUT",
        created=b"",
        body_digest=digest(b"sold out"),
        admission=admission,
    )


def test_who_let_a_command_in_is_read_back_with_its_node_and_instant(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    header = msgspec.structs.replace(HEADER, admissions=("redis", "local"))
    journal = Journal(tmp_path / "journal" / "3.bin", header)
    for place, (sent, admission) in enumerate([(150, 1), (250, 2), (350, 0)]):
        slot = invoke(journal, place)
        journal.sending(slot, sent)
        complete(journal, slot, admission=admission)
    journal.sending(invoke(journal, 9), 450)  # never answered
    journal.close()
    assert list(admissions(tmp_path)) == [(150, "node-b", "redis"), (250, "node-b", "local")]


def test_an_operation_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "3.bin", HEADER)
    slot = invoke(journal, 9, race=4, kind=1)
    journal.sending(slot, 200)
    complete(journal, slot)
    journal.close()
    table = read_journal(tmp_path / "3.bin")
    assert table.schema == OPERATIONS
    assert table.to_pylist() == [
        {
            "op": 3 << 40,
            "shard": 3,
            "arrival": 9,
            "race": 4,
            "attempt": 1,
            "kind": "confirm",
            "node": "node-b",
            "tenant": "lastseat",
            "owner": "käufer-1",
            "subject": "77",
            "quantity": 2,
            "key": "r1-1",
            "request_digest": digest(b"POST{}").hex(),
            "intended_ns": 100,
            "sent_ns": 200,
            "done_ns": 300,
            "outcome": "fail",
            "status": 409,
            "code": "SOLD_OUT",
            "replayed": True,
            "created": None,
            "body_digest": digest(b"sold out").hex(),
            "error": None,
        }
    ]


def test_an_operation_without_an_answer_stays_unknown(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "3.bin", HEADER)
    journal.sending(invoke(journal, 1), 200)
    invoke(journal, 2)
    sent, unsent = read_journal(tmp_path / "3.bin").to_pylist()
    assert (sent["sent_ns"], sent["done_ns"], sent["outcome"], sent["error"]) == (
        200,
        None,
        "info",
        "stopped",
    )
    assert (unsent["sent_ns"], unsent["race"], unsent["status"]) == (None, None, None)


def test_a_full_journal_refuses_to_remember_more(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "3.bin", HEADER)
    for arrival in range(HEADER.capacity):
        invoke(journal, arrival)
    with pytest.raises(JournalFull, match="8 slots"):
        invoke(journal, 99)
    assert read_journal(tmp_path / "3.bin").num_rows == 8


def test_a_text_is_refused_rather_than_cut(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "3.bin", HEADER)
    with pytest.raises(JournalTextTooLong, match="too long"):
        invoke(journal, key=b"k" * 89)
    assert journal.used == 0


def test_a_shard_is_claimed_once(tmp_path: Path) -> None:
    Journal(tmp_path / "3.bin", HEADER)
    with pytest.raises(FileExistsError):
        Journal(tmp_path / "3.bin", HEADER)


def send_then_die(path: Path) -> None:
    journal = Journal(path, HEADER)
    for arrival in range(3):
        journal.sending(invoke(journal, arrival), 200 + arrival)
    complete(journal, 0)
    os.kill(os.getpid(), signal.SIGKILL)


def test_nothing_sent_is_lost_when_the_load_process_is_killed(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=send_then_die, args=(tmp_path / "0.bin",))
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL
    rows = read_journal(tmp_path / "0.bin").to_pylist()
    assert [(row["arrival"], row["sent_ns"], row["outcome"]) for row in rows] == [
        (0, 200, "fail"),
        (1, 201, "info"),
        (2, 202, "info"),
    ]


def test_parts_of_several_load_processes_become_one_history(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    for shard in (0, 1):
        header = Header(run="r", shard=shard, capacity=2, kinds=("hold",), nodes=("a", "b"), tenants=("t",))
        invoke(Journal(tmp_path / "journal" / f"{shard}.bin", header))
    assert gather(tmp_path).column("op").to_pylist() == [0, 1 << 40]
    assert write_history(tmp_path) == 2
    assert (tmp_path / "operations.parquet").exists()


def test_a_folder_without_journals_is_an_error_not_an_empty_history(tmp_path: Path) -> None:
    with pytest.raises(JournalUnreadable, match="never started"):
        gather(tmp_path)


def written(tmp_path: Path, count: int = 3) -> bytearray:
    journal = Journal(tmp_path / "whole.bin", HEADER)
    for arrival in range(count):
        invoke(journal, arrival)
    journal.close()
    return bytearray((tmp_path / "whole.bin").read_bytes())


def test_a_record_torn_at_the_very_end_never_left_and_is_dropped(tmp_path: Path) -> None:
    raw = written(tmp_path)
    mark = raw.index(b"\x1d\xa1\x0c\x1b", HEADER_BYTES + 2 * SLOT_BYTES)
    raw[mark : mark + 4] = bytes(4)
    (tmp_path / "torn.bin").write_bytes(raw)
    assert read_journal(tmp_path / "torn.bin").column("arrival").to_pylist() == [0, 1]


def test_a_record_torn_in_the_middle_is_damage(tmp_path: Path) -> None:
    raw = written(tmp_path)
    raw[HEADER_BYTES + SLOT_BYTES : HEADER_BYTES + 2 * SLOT_BYTES] = bytes(SLOT_BYTES)
    (tmp_path / "hole.bin").write_bytes(raw)
    with pytest.raises(JournalUnreadable, match="slot 1 is torn"):
        read_journal(tmp_path / "hole.bin")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("short", "truncated"),
        ("stub", "not even its header"),
        ("foreign", "no journal"),
        ("newer", "version 9"),
    ],
)
def test_a_file_that_cannot_be_believed_is_named_with_its_fault(tmp_path: Path, name: str, said: str) -> None:
    raw = written(tmp_path)
    newer = raw[:16] + b"\x09" + raw[17:]
    broken = {"short": raw[:-1], "stub": raw[:100], "foreign": b"PAR1" + raw[4:], "newer": newer}[name]
    (tmp_path / "broken.bin").write_bytes(broken)
    with pytest.raises(JournalUnreadable, match=said):
        read_journal(tmp_path / "broken.bin")
