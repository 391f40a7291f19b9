"""The plugin as projects meet it: pytest in a process of its own, real flows replayed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from standin import script
from standin.server import StandIn

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with one recorded flow, `specs/booking.flow.yaml`."""
    for name in ("FLOWPROOF_RUNS_DIR", "PYTEST_XDIST_WORKER_COUNT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:recording -p no:cassetter")
    specs = pytester.mkdir("specs")
    shutil.copy(ROOT / "examples" / "agents" / "stdlib_loop.py", pytester.path / "agent.py")
    text = (ROOT / "specs" / "booking.flow.yaml").read_text()
    (specs / "booking.flow.yaml").write_text(
        text.replace("python3 examples/agents/stdlib_loop.py", f"{sys.executable} agent.py")
    )
    shutil.copy(ROOT / "specs" / "booking.trace.json", specs)
    return pytester


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A model to record from."""
    import threading

    server = StandIn(script.load())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv("FLOWPROOF_AGENT_UPSTREAM", server.url)
    yield
    server.shutdown()
    thread.join()
    server.server_close()


def break_the_prompt(project: pytest.Pytester) -> None:
    agent = project.path / "agent.py"
    agent.write_text(agent.read_text().replace("You book flights.", "You book trains."))


def test_a_named_spec_is_a_test(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("specs/booking.flow.yaml", "-v", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["specs/booking.flow.yaml::booking PASSED*"])
    assert len(list(project.path.glob(".flowproof/runs/*/report.json"))) == 2  # the run, and `latest`


def test_every_option_bears_our_name() -> None:
    from _pytest.config.argparsing import Parser

    from flowproof_runner import pytest_plugin

    parser = Parser(_ispytest=True)
    pytest_plugin.pytest_addoption(parser)
    names = [name for option in parser.getgroup("flowproof").options for name in option.names()]
    assert names and all(name.startswith("--flowproof-") for name in names)


def test_specs_in_folders_are_left_alone_until_they_are_wanted(project: pytest.Pytester) -> None:
    assert project.runpytest_subprocess("--collect-only").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    asked = project.runpytest_subprocess("--collect-only", "-q", "--flowproof-collect")
    asked.stdout.fnmatch_lines(["specs/booking.flow.yaml::booking"])
    project.makeini("[pytest]\nflowproof_collect = true\n")
    always = project.runpytest_subprocess("--collect-only", "-q")
    always.stdout.fnmatch_lines(["specs/booking.flow.yaml::booking"])


def test_a_drift_fails_with_our_report_and_no_traceback(project: pytest.Pytester) -> None:
    break_the_prompt(project)
    result = project.runpytest_subprocess("specs/booking.flow.yaml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*flow booking*", " FAIL *booking.flow.yaml*", "*[[]model.divergence[]]*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*def runtest*")


def test_a_spec_that_cannot_be_read_fails_and_the_others_run(project: pytest.Pytester) -> None:
    (project.path / "specs" / "bad.flow.yaml").write_text("name: Bad\nap: agent\n")
    result = project.runpytest_subprocess("--flowproof-collect")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*bad.flow.yaml:2*"])


def test_a_flow_whose_variables_are_unset_is_skipped_with_the_reason(project: pytest.Pytester) -> None:
    spec = project.path / "specs" / "booking.flow.yaml"
    spec.write_text(spec.read_text() + "skip_unless_env: [FLOWPROOF_TEST_NEVER_SET]\n")
    result = project.runpytest_subprocess(str(spec), "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*FLOWPROOF_TEST_NEVER_SET is not set"])


def test_the_fixture_replays(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        def test_booking(flowproof):
            first = flowproof.replay("specs/booking.flow.yaml")
            assert first.verdict == "pass", flowproof.report(first)
            assert first.counts.turns == 3
            assert flowproof.replay("specs/booking.flow.yaml").folder != first.folder

        def test_report(flowproof):
            result = flowproof.replay("specs/gone.flow.yaml")
            assert result.verdict == "error"
            assert "gone.flow.yaml" in flowproof.report(result)
        """
    )
    project.runpytest_subprocess().assert_outcomes(passed=2)


@pytest.mark.usefixtures("upstream")
def test_the_fixture_records(project: pytest.Pytester) -> None:
    (project.path / "specs" / "booking.trace.json").unlink()
    project.makepyfile(
        """
        from pathlib import Path

        def test_booking(flowproof):
            result = flowproof.record("specs/booking.flow.yaml")
            assert result.verdict == "pass", flowproof.report(result)
            assert Path("specs/booking.trace.json").exists()
        """
    )
    project.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.usefixtures("upstream")
def test_missing_cassettes_are_recorded_when_asked(project: pytest.Pytester) -> None:
    cassette = project.path / "specs" / "booking.trace.json"
    cassette.unlink()
    spec = "specs/booking.flow.yaml"
    project.runpytest_subprocess(spec).assert_outcomes(failed=1)
    project.runpytest_subprocess(spec, "--flowproof-record=missing").assert_outcomes(passed=1)
    assert cassette.exists()


def test_workers_of_xdist_have_a_boundary_each(project: pytest.Pytester) -> None:
    specs = project.path / "specs"
    for suffix in ("flow.yaml", "trace.json"):
        shutil.copy(specs / f"booking.{suffix}", specs / f"again.{suffix}")
    result = project.runpytest_subprocess("--flowproof-collect", "-n", "2", "--dist=each")
    result.assert_outcomes(passed=4)
    assert len(list(project.path.glob(".flowproof/runs/2*/boundary"))) == 2


@pytest.mark.parametrize(
    ("other", "options"),
    [
        ("recording", ["--block-network", "--record-mode=none"]),
        ("cassetter", ["--record-mode=none"]),
    ],
)
def test_it_works_beside_plugins_that_patch_http_clients(
    other: str, options: list[str], project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They block or replay what the tests' own process sends; our flows are other processes' affair."""
    third = ({"recording", "cassetter"} - {other}).pop()
    monkeypatch.setenv("PYTEST_ADDOPTS", f"-p no:{third}")
    project.makepyfile(
        """
        import socket
        import pytest

        def test_booking(flowproof):
            result = flowproof.replay("specs/booking.flow.yaml")
            assert result.verdict == "pass", flowproof.report(result)

        @pytest.mark.skipif("not config.getoption('--block-network', False)")
        def test_the_other_plugin_does_its_work(flowproof):
            with pytest.raises(RuntimeError, match="Network is disabled"):
                socket.socket().connect(("127.0.0.1", 9))
        """
    )
    result = project.runpytest_subprocess("--flowproof-collect", *options)
    blocked = other == "recording"
    result.assert_outcomes(passed=2 + blocked, skipped=1 - blocked)


def test_nothing_is_imported_by_who_does_not_use_it(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # other plugins import what they like
    project.makepyfile(
        """
        import sys

        def test_weight():
            heavy = ("flowproof_addons", "pydantic", "typer", "yaml", "mitmproxy", "flowproof_runner.boundary.client")
            assert "flowproof_runner.pytest_plugin" in sys.modules
            assert [name for name in heavy if name in sys.modules] == []
        """
    )
    project.runpytest_subprocess("-p", "flowproof").assert_outcomes(passed=1)
