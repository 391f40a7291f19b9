"""What an agent must not inherit is put back."""

from __future__ import annotations

import os

import pytest

from flowproof_runner.program.unplugged import unplugged

NAME = "PYDANTIC_DISABLE_PLUGINS"


@pytest.mark.parametrize("before", [None, "one"])
def test_the_switch_is_on_within_and_as_before_afterwards(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    if before is not None:
        monkeypatch.setenv(NAME, before)
    with pytest.raises(KeyError), unplugged():
        assert os.environ[NAME] == "__all__"
        raise KeyError
    assert os.environ.get(NAME) == before
