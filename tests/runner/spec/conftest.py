"""Specs in a few lines."""

from collections.abc import Callable
from pathlib import Path

import pytest

from flowproof_runner.reading.problems import SpecError
from flowproof_runner.spec.capabilities import NEEDED_BY
from flowproof_runner.spec.file import LoadedSpec, load

ALL = frozenset(NEEDED_BY.values())

HEAD = "name: n\napp: agent\nagent: {command: run}\n"
STEPS = "steps:\n- prompt: go\n- assert: reply is ok\n"


@pytest.fixture
def spec(tmp_path: Path) -> Callable[..., LoadedSpec]:
    """Loads a spec made of these lines; what is not given is the least that is right."""

    def loaded(text: str, *, supported: frozenset[str] | None = ALL, whole: bool = False) -> LoadedSpec:
        path = tmp_path / "x.flow.yaml"
        path.write_text(text if whole else completed(text), encoding="utf-8")
        return load(path, supported=supported)

    return loaded


@pytest.fixture
def wrong(spec: Callable[..., LoadedSpec], tmp_path: Path) -> Callable[..., list[str]]:
    """The problems of a spec, `LINE:COLUMN: key: message`."""

    def problems(text: str, *, supported: frozenset[str] | None = ALL, whole: bool = False) -> list[str]:
        with pytest.raises(SpecError) as caught:
            spec(text, supported=supported, whole=whole)
        return [str(problem).removeprefix(f"{tmp_path / 'x.flow.yaml'}:") for problem in caught.value.problems]

    return problems


def completed(text: str) -> str:
    """The lines first, so that their numbers are the test's, then what they lack."""
    keys = {line.split(":")[0] for line in text.splitlines()}
    head = "".join(f"{line}\n" for line in HEAD.splitlines() if line.split(":")[0] not in keys)
    return text + ("" if text.endswith("\n") or not text else "\n") + head + ("" if "steps" in keys else STEPS)
