"""A spec as a pytest file with one test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from _pytest._code.code import TerminalRepr  # pytest names it in its own public signature and exports it nowhere

from flowproof_addons import FlowproofError
from flowproof_runner.flow import plan
from flowproof_runner.pytest_plugin import flowing, recording
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.result import FlowResult
from flowproof_runner.spec.file import LoadedSpec, load


class FlowFailed(Exception):
    """The flow did not pass; the message is its report."""


class FlowFile(pytest.File):
    """A spec."""

    def collect(self) -> Iterator[FlowItem]:
        """Its one flow. A spec that cannot be read is a failing test, not a session that does not start."""
        name = self.path.name.rsplit(".flow.", 1)[0]
        item: FlowItem = FlowItem.from_parent(self, name=name)
        item.add_marker("flowproof")
        try:
            _known(item, load(self.path))
        except SpecError:
            pass  # running it says what is wrong
        yield item


class FlowItem(pytest.Item):
    """One flow."""

    result: FlowResult | None = None
    """Once it has run: for plugins and hooks of the project."""

    def runtest(self) -> None:
        """Run it. Raises FlowFailed if it does not pass."""
        flows = flowing(self.config)
        self.result = flows.run(self.path, recording(self.config))
        if self.result.verdict == "skip":
            pytest.skip(self.result.reason)
        if self.result.verdict != "pass":
            raise FlowFailed(flows.report(self.result))

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: Literal["long", "short", "line", "no", "native", "value", "auto"] | None = None,
    ) -> str | TerminalRepr:
        """The report, without a traceback through our code."""
        if isinstance(excinfo.value, FlowFailed | FlowproofError):
            return str(excinfo.value).strip("\n")
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """What heads the failure."""
        return self.path, None, f"flow {self.name}"


def _known(item: FlowItem, spec: LoadedSpec) -> None:
    """What the spec says that selects and distributes tests."""
    item.extra_keyword_matches.add(spec.spec.name)
    ports = sorted(plan.ports(spec))
    if ports and item.config.pluginmanager.hasplugin("xdist"):
        # --dist loadgroup: flows with a fixed port must not meet in two workers.
        item.add_marker(pytest.mark.xdist_group(f"flowproof-port-{ports[0]}"))
