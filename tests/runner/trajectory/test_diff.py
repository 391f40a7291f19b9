"""`flowproof diff` on real cassettes."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowproof_runner import entry

CASSETTE = Path(__file__).parents[3] / "specs" / "booking.trace.json"


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def test_a_cassette_is_the_same_as_its_spec(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["diff", str(CASSETTE), str(CASSETTE.with_name("booking.flow.yaml"))]) == 0
    assert capsys.readouterr().out == "no difference in what the agent does or is told\n"


def test_an_edited_cassette(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.trace.json"
    other.write_text(CASSETTE.read_text().replace("You book flights", "You book trains").replace("KQ311", "KQ400"))
    assert entry.run(["diff", str(CASSETTE), str(other)]) == 1
    assert capsys.readouterr().out == (
        "does differently\n"
        "  create_booking: flight.id\n"
        '    - "KQ311"\n'
        '    + "KQ400"\n'
        "  the reply\n"
        "    - Your flight KQ311 to Nairobi is booke…\n"
        "    + Your flight KQ400 to Nairobi is booke…\n"
        "is told differently\n"
        "  system text\n"
        "    - You book flights.\n"
        "    + You book trains.\n"
    )


def test_a_folder_without_a_trace_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["diff", str(CASSETTE), str(tmp_path)]) == 2
    assert "holds 0 traces (none): name one" in capsys.readouterr().err
