"""The parser reads what a real server wrote, and refuses everything else in its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.trail.messages import (
    UNCHANGED,
    Begin,
    Column,
    Commit,
    Delete,
    Insert,
    Message,
    Origin,
    Relation,
    Truncate,
    Type,
    Update,
)
from checker.trail.pgoutput import PgoutputError, parse

if TYPE_CHECKING:
    from checker.trail.spool import Frame

SEATS, NOTES, WHOLE = 16604, 16613, 16621


@pytest.fixture(scope="session")
def messages(recorded: list[Frame]) -> list[object]:
    return [parse(frame.data) for frame in recorded]


def test_every_kind_of_message_is_in_the_recording(messages: list[object]) -> None:
    kinds = {type(message) for message in messages}
    assert kinds == {Begin, Commit, Relation, Insert, Update, Delete, Truncate, Type, Origin, Message}


def test_begin_and_commit_agree_on_where_and_when(messages: list[object]) -> None:
    begins = [message for message in messages if isinstance(message, Begin)]
    commits = [message for message in messages if isinstance(message, Commit)]
    assert [(b.commit_lsn, b.commit_time) for b in begins] == [(c.commit_lsn, c.commit_time) for c in commits]
    assert all(c.end_lsn > c.commit_lsn for c in commits)
    assert [b.commit_lsn for b in begins] == sorted(b.commit_lsn for b in begins)


def test_begin_carries_the_xid_that_the_slot_tells_too(recorded: list[Frame], messages: list[object]) -> None:
    told = [(f.xid, m.xid) for f, m in zip(recorded, messages, strict=True) if isinstance(m, Begin)]
    assert told
    assert all(outside == inside for outside, inside in told)


def test_every_column_type_comes_as_postgres_prints_it(messages: list[object]) -> None:
    relation = next(m for m in messages if isinstance(m, Relation))
    insert = next(m for m in messages if isinstance(m, Insert))
    names = [column.name for column in relation.columns]
    assert dict(zip(names, insert.new, strict=True)) == {
        "id": "1",
        "n": "-7",
        "s": "3",
        "name": "naïve\n",
        "ch": " A  ",
        "ok": "t",
        "at": "2026-02-02 19:05:06.123456+00",
        "for_": "1 day 02:00:00",
        "u": "00000000-0000-0000-0000-000000000001",
        "raw": "\\xdeadbeef",
        "body": '{"a": [1, null]}',
        "price": "12.50",
        "f": "0.1",
        "tags": '{a,"b,c",NULL}',
        "m": "ok",
        "ip": "10.0.0.1",
        "twice": "-14",
    }


def test_a_relation_names_its_identity_and_key(messages: list[object]) -> None:
    notes = next(m for m in messages if isinstance(m, Relation) and m.oid == NOTES)
    assert (notes.schema, notes.name, notes.identity) == ("public", "notes", "d")
    assert notes.columns[:2] == (Column("id", True, 23), Column("v", False, 25))
    seats = next(m for m in messages if isinstance(m, Relation) and m.oid == SEATS)
    assert seats.identity == "f"
    assert all(column.in_key for column in seats.columns)


def test_ddl_in_between_shows_as_a_new_relation(messages: list[object]) -> None:
    shapes = [[c.name for c in m.columns] for m in messages if isinstance(m, Relation) and m.oid == NOTES]
    assert shapes[0] == ["id", "v", "w"]
    assert shapes[-1] == ["id", "v", "w", "extra"]


def test_an_untouched_toasted_value_is_unchanged_not_null(messages: list[object]) -> None:
    update = next(m for m in messages if isinstance(m, Update) and m.relation == NOTES)
    assert update == Update(NOTES, ("1", UNCHANGED, "b"), None, None)


def test_under_identity_full_the_old_row_holds_the_untouched_value(messages: list[object]) -> None:
    update = next(m for m in messages if isinstance(m, Update) and m.relation == WHOLE)
    assert update.old == ("1", "y" * 2100, "a")
    assert update.new == ("1", UNCHANGED, "b")


def test_a_changed_key_comes_with_the_old_one(messages: list[object]) -> None:
    moved = [m for m in messages if isinstance(m, Update) and m.old_key is not None]
    assert moved == [Update(NOTES, ("2", None, "b"), None, ("1", None, None))]


def test_a_delete_names_the_key_or_the_whole_row(messages: list[object]) -> None:
    deletes = [message for message in messages if isinstance(message, Delete)]
    assert deletes == [
        Delete(NOTES, None, ("2", None, None)),
        Delete(WHOLE, ("1", "y" * 2100, "b"), None),
    ]


def test_a_truncation_lists_its_tables_and_options(messages: list[object]) -> None:
    truncations = [message for message in messages if isinstance(message, Truncate)]
    assert truncations == [Truncate((NOTES, WHOLE), cascade=True, restart_identity=True)]


def test_a_null_and_an_empty_text_differ(messages: list[object]) -> None:
    insert = [m for m in messages if isinstance(m, Insert) and m.relation == NOTES][1]
    assert insert.new == ("5", None, "", "6")


def test_types_origins_and_logical_messages_are_read(messages: list[object]) -> None:
    assert [m for m in messages if isinstance(m, Type)] == [Type(16598, "public", "mood")]
    assert [m for m in messages if isinstance(m, Origin)] == [Origin(0x1234, "elsewhere")]
    (mark,) = [m for m in messages if isinstance(m, Message)]
    assert (mark.transactional, mark.prefix, mark.content) == (True, "lastseat", b"mark")


def test_a_binary_column_stays_bytes() -> None:
    row = bytes.fromhex("49000040dc4e0002" + "62000000080000000000000001" + "6e")
    assert parse(row) == Insert(SEATS, (b"\x00\x00\x00\x00\x00\x00\x00\x01", None))


def test_every_truncation_of_every_message_is_refused_with_its_offset(recorded: list[Frame]) -> None:
    for frame in recorded:
        lengths = range(len(frame.data)) if len(frame.data) < 500 else range(0, len(frame.data), 97)
        for length in lengths:
            with pytest.raises(PgoutputError) as refused:
                parse(frame.data[:length])
            assert 0 <= refused.value.offset <= length
            assert str(refused.value).endswith(f"at byte {refused.value.offset}")


def test_bytes_after_a_message_are_refused(recorded: list[Frame]) -> None:
    for frame in recorded:
        with pytest.raises(PgoutputError, match="1 bytes more") as refused:
            parse(frame.data + b"\x00")
        assert refused.value.offset == len(frame.data)


@given(data=st.data())
def test_garbled_messages_are_read_or_refused_but_never_break_the_parser(
    recorded: list[Frame], data: st.DataObject
) -> None:
    garbled = bytearray(data.draw(st.sampled_from(recorded)).data)
    for _ in range(data.draw(st.integers(1, 3))):
        garbled[data.draw(st.integers(0, len(garbled) - 1))] = data.draw(st.integers(0, 255))
    try:
        parse(bytes(garbled))
    except PgoutputError as refused:
        assert 0 <= refused.offset <= len(garbled)  # noqa: PT017 - reading it is as good


@given(noise=st.binary(max_size=64))
def test_noise_is_read_or_refused(noise: bytes) -> None:
    try:
        parse(noise)
    except PgoutputError as refused:
        assert 0 <= refused.offset <= len(noise)  # noqa: PT017 - reading it is as good


def test_the_refusal_says_what_was_wrong() -> None:
    with pytest.raises(PgoutputError, match=r"unknown message kind b'Z' at byte 0"):
        parse(b"Z")
    with pytest.raises(PgoutputError, match=r"an empty message at byte 0"):
        parse(b"")
    with pytest.raises(PgoutputError, match=r"not UTF-8 at byte 13"):
        parse(bytes.fromhex("49000040dc4e00017400000001ff"))
    with pytest.raises(PgoutputError, match=r"unknown column kind 120 at byte 8"):
        parse(bytes.fromhex("49000040dc4e000178"))
