"""Naming a difference."""

import pytest

from flowproof_addons.matching.kinds import spot, title, volatile

UUID1, UUID2 = "518c3dd0-1111-4222-8333-444455556666", "0197dc3d-2f63-7a2e-9a3b-3c1a5d0f6b1c"


@pytest.mark.parametrize(
    ("recorded", "sent", "kind"),
    [
        ("Today is 2026-12-01.", "Today is 2026-12-02.", "two dates"),
        ("Today is Tue Dec 01 2026, go", "Today is Wed Dec 02 2026, go", "two dates"),
        ("Today is Tuesday, December 1, 2026", "Today is Wednesday, December 2, 2026", "two dates"),
        ("on 12/1/2026", "on 12/2/2026", "two dates"),
        ("<t>2026-12-02T04:18:44.690+00:00</t>", "<t>2026-12-02T05:00:01.001+00:00</t>", "two timestamps"),
        ("at 10:31:02 sharp", "at 11:02:59 sharp", "two clock times"),
        (f"id {UUID1}", f"id {UUID2}", "two UUIDs"),
        (f"msg_{UUID1}", f"msg_{UUID2}", "two ids with a UUID"),
        ("at 1796186587847", "at 1796186599999", "two Unix times"),
        ("Chunk ID: e8297b\nok", "Chunk ID: 0a1b2c\nok", "two hexadecimal ids"),
        ("took 0.2286 seconds", "took 0.31 seconds", "two numbers"),
        ("PID 13: up 2s", "PID 14: up 3s", "two numbers"),
        ("in /tmp/pytest-1/a.txt", "in /tmp/pytest-27/a.txt", "two temporary paths"),
        ("cwd /home/ann/proj.", "cwd /build/w1/proj.", "two paths"),
        ("call_aB3dE5fG7h is", "call_zY9xW8vU7t is", "two generated ids"),
        ("a  b", "a b", "white space"),
        ("a\r\nb", "a\nb", "line ends (CR LF against LF)"),
        ("Hello", "hello", "upper and lower case"),
        ("cafe\u0301", "caf\u00e9", "Unicode normal form"),
        ("You are a helpful bot.", "You are a careful bot.", "different text"),
        ("", "x", "different text"),
    ],
)
def test_the_kind_of_difference(recorded: str, sent: str, kind: str) -> None:
    assert title(recorded, sent) == kind


@pytest.mark.parametrize(
    ("recorded", "sent", "parts"),
    [
        ("on 2026-12-01 we", "on 2026-12-02 we", ("2026-12-01", "2026-12-02")),
        ("a quick fox", "a slow fox", ("quick", "slow")),
        ("abc", "abcdef", ("", "def")),
        ("aaaa", "aa", ("aa", "")),
        ("x" * 100_000 + "1" + "y" * 100_000, "x" * 100_000 + "2" + "y" * 100_000, ("1", "2")),
    ],
)
def test_where_two_texts_part(recorded: str, sent: str, parts: tuple[str, str]) -> None:
    found = spot(recorded, sent)
    assert (recorded[slice(*found.recorded)], sent[slice(*found.sent)]) == parts


def test_words_of_one_kind_are_volatile_and_others_are_not() -> None:
    assert volatile("2026-12-01", "2026-12-02") is not None
    assert volatile("2026-12-01", "tomorrow") is None
    assert volatile("quick", "slow") is None
