"""What a live boundary writes, and what can be read of it after any end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowproof_addons.trace.file import CassetteError
from flowproof_addons.trace.journal import Journal, read, recover
from flowproof_addons.trace.json_value import compact
from flowproof_addons.trace.model import BytesBody, Exchange, JsonBody, JsonValue, Reply, Request
from flowproof_addons.trace.redact import Redactor


def exchange(value: JsonValue) -> Exchange:
    return Exchange(Request("POST", "/v1", "", JsonBody(value)), Reply(200, BytesBody(b"ok")), "openai-chat")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    journal = Journal(path, Redactor({"DB": "hunter22"}))
    yield journal
    journal.close()


def test_exchanges_come_back_in_the_order_in_which_they_arrived(path: Path, journal: Journal) -> None:
    slow, fast = journal.arrive(), journal.arrive()
    assert journal.append(exchange("fast"), fast) == 1
    assert journal.append(exchange("third")) == 2
    assert journal.append(exchange("slow"), slow) == 0
    assert read(path) == (exchange("slow"), exchange("fast"), exchange("third"))


def test_each_line_is_there_as_soon_as_it_is_appended(path: Path, journal: Journal) -> None:
    for count in range(1, 4):
        journal.append(exchange({"n": count}))
        assert len(read(path)) == count


def test_secrets_are_hidden_before_they_reach_the_disk(path: Path, journal: Journal) -> None:
    journal.append(exchange({"a": "hunter22"}))
    assert b"hunter22" not in path.read_bytes()
    assert read(path) == (exchange({"a": "${DB}"}),)


def test_only_its_owner_can_read_it(path: Path, journal: Journal) -> None:
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_growing_conversation_is_written_as_what_it_adds(path: Path, journal: Journal) -> None:
    messages: list[JsonValue] = [{"role": "user", "content": f"message {n} " * 20} for n in range(100)]
    for n in range(1, 101):
        journal.append(exchange({"messages": messages[:n]}))
    assert path.stat().st_size < 3 * len(compact(messages))
    assert read(path)[-1] == exchange({"messages": messages})


def test_an_exchange_cut_by_a_crash_is_dropped_and_told(path: Path, journal: Journal) -> None:
    journal.append(exchange("one"))
    whole = path.read_bytes()
    journal.append(exchange("two"))
    written = path.read_bytes()
    for length in range(len(whole) + 1, len(written)):
        path.write_bytes(written[:length])
        found = recover(path)
        assert (found.exchanges, found.torn) == ((exchange("one"),), True)
    path.write_bytes(written)
    assert recover(path).torn is False


def test_damage_before_the_last_line_is_an_error_with_its_place(path: Path, journal: Journal) -> None:
    journal.append(exchange("one"))
    path.write_bytes(b"{}\n" + path.read_bytes())
    with pytest.raises(CassetteError, match=f"{path}:1: is damaged: the document: `n` is missing; run the flow again"):
        read(path)


def test_a_missing_journal_and_a_missing_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="cannot be read"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(CassetteError, match=r"cannot be written: .*; check the run folder"):
        Journal(tmp_path / "none" / "trace.jsonl", Redactor({}))


def test_nothing_more_is_written_once_it_is_closed(journal: Journal) -> None:
    journal.close()
    with pytest.raises(ValueError):
        journal.append(exchange("late"))
