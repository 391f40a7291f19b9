"""A spec is read, or every error in it is told with its place and what would be accepted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from flowproof_addons.errors import FlowproofError
from flowproof_runner.expectations.ast import CallAssertion, NoEgress, NoSecretLeak, NoSideEffect, Prompt
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.spec.agent import ExitCodes, Output
from flowproof_runner.spec.capabilities import NEEDED_BY, SUPPORTED
from flowproof_runner.spec.file import LoadedSpec, load

type Load = Callable[..., LoadedSpec]
type Wrong = Callable[..., list[str]]


def test_a_whole_spec(spec: Load) -> None:
    loaded = spec(
        """\
name: Booking assistant books a flight     # required
app: agent
agent:
  command: npm run "the assistant"
  cwd: .
  env: { AGENT_MODE: plan, PORT: 8080, DEBUG: true, VERSION: 1.10, ON: on }
  timeout: 5m
  expect_exit: [0, 3]
tools:
  - name: search_flights
    result: { flights: [ { id: KQ311, on: 2026-01-01, big: 12345678901234567890123 } ] }
  - name: create_booking
    results: [ { booking: B-1 }, { booking: B-2 } ]
  - name: lookup
steps:
  - prompt: Book me a flight
  - assert_tool_call: create_booking where flight.id equals KQ311
  - prompt: 42
  - assert_no_egress
  - assert_no_side_effect: { what: fs_write, except: ["out/**"] }
  - assert_no_secret_leak: [ "${A}", "${B}" ]
skip_unless_env: [ OPENAI_API_KEY ]
""",
        whole=True,
    )
    agent = loaded.spec.agent
    assert (agent.command, agent.timeout, agent.expect_exit) == (
        ("npm", "run", "the assistant"),
        300.0,
        ExitCodes(frozenset({0, 3})),
    )
    assert agent.env == {"AGENT_MODE": "plan", "PORT": "8080", "DEBUG": "true", "VERSION": "1.10", "ON": "on"}
    assert loaded.spec.tools[0].result == {
        "flights": [{"id": "KQ311", "on": "2026-01-01", "big": 12345678901234567890123}]
    }
    assert [type(placed.step) for placed in loaded.steps] == [
        Prompt,
        CallAssertion,
        Prompt,
        NoEgress,
        NoSideEffect,
        NoSecretLeak,
    ]
    assert [placed.where.rpartition(":")[2] for placed in loaded.steps] == ["16", "17", "18", "19", "20", "21"]
    assert loaded.task == "Book me a flight\n42"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            "nme: x",
            ["1:1: nme: unknown key; did you mean 'name'? accepted: name, app, agent, tools, mcp, steps, strict,"],
        ),
        ("name:", ["1:6: name: expected text, found nothing"]),
        ('name: ""', ["1:7: name: is empty"]),
        ("app: web", ["1:6: app: found 'web'; accepted: 'agent'"]),
        ("strict: yes", ["1:9: strict: expected true or false, found 'yes'"]),
        ("agent: run", ["1:8: agent: expected a mapping, found 'run'"]),
        ("agent: {}", ["1:8: agent: exactly one of command, url and adapter is needed, found none"]),
        (
            "agent: {command: a, url: b}",
            ["1:8: agent: exactly one of command, url and adapter is needed, found command"],
        ),
        ("agent: {url: a, cwd: b}", ["1:8: agent: proxy_port is required", "1:22: agent.cwd: does not go with url"]),
        (
            "agent: {command: a, output: body}",
            ["1:29: agent.output: 'body' does not go with command; accepted with url"],
        ),
        (
            "agent: {url: a, proxy_port: 1, output: adapter}",
            ["1:40: agent.output: 'adapter' does not go with url; accepted with adapter"],
        ),
        ("agent: {command: a, proxy_port: 1}", ["1:33: agent.proxy_port: does not go with command; accepted with u"]),
        ("agent: {url: a, proxy_port: 0}", ["1:29: agent.proxy_port: 0 is too small; accepted: 1 or more"]),
        ("agent: {comand: a}", ["1:9: agent.comand: unknown key; did you mean 'command'? accepted: command, url,"]),
        ("agent: {command: 'a \"b'}", ["1:18: agent.command: cannot be split into words: No closing quotation"]),
        ("agent: {command: a && b}", ["1:18: agent.command: '&&' needs a shell, and none is run; accepted: [sh, -c"]),
        (
            "agent: {command: X=1 run}",
            ["1:18: agent.command: 'X=1' sets a variable as a shell would; put it under env"],
        ),
        ("agent: {command: []}", ["1:18: agent.command: the command is empty"]),
        (
            "agent: {command: a, env: {1X: a}}",
            ["1:31: agent.env.1X: '1X' does not fit; accepted: letters, digits and _"],
        ),
        ("agent: {command: a, env: [a]}", ["1:26: agent.env: expected a mapping, found a list"]),
        ("agent: {command: a, timeout: 5}", ["1:30: agent.timeout: 5 is no duration; accepted: 300s, 5m, 250ms, 1h"]),
        ("agent: {command: a, timeout: 0s}", ["1:30: agent.timeout: '0s' is no duration"]),
        (
            "agent: {command: a, expect_exit: any}",
            ["1:34: agent.expect_exit: 'any' is no exit code; accepted: 0, [0, 3]"],
        ),
        ("agent: {command: a, expect_exit: {any: ''}}", ["1:34: agent.expect_exit: a mapping is no exit code"]),
        ("agent: {command: a, expect_exit: true}", ["1:34: agent.expect_exit: true is no exit code"]),
        (
            "agent: {command: a, output: stdout}",
            ["1:29: agent.output: 'stdout' is no place for output; accepted: reply"],
        ),
        ("tools: [{name: a b}]", ["1:16: tools.0.name: 'a b' does not fit; accepted: letters, digits, _ - . / :"]),
        ("tools: [{name: a}, {name: a}]", ["1:27: tools.1.name: 'a' is already entry 1"]),
        (
            "tools: [{name: a, result: 1, results: [1]}]",
            ["1:9: tools.0: at most one of result, results and cases; found result and results"],
        ),
        ("tools: [{name: a, results: []}]", ["1:28: tools.0.results: is empty; give at least one"]),
        ("tools: [{name: a, is_error: true}]", ["1:29: tools.0.is_error: needs a result"]),
        ("tools: [{name: a, cases: [{call: 1}]}]", ["1:27: tools.0.cases.0: required key 'result' is missing"]),
        (
            "tools: [{name: a, cases: [{result: 1}, {call: 2, result: 1}]}]",
            ["1:40: tools.0.cases.1: is never reached: case 1 fits every call it fits; put it first"],
        ),
        (
            "tools: [{name: a, cases: [{where: {x: 1}, result: 1}, {where: {y: 2, x: 1}, result: 1}]}]",
            ["1:55: tools.0.cases.1: is never reached"],
        ),
        ("tools: [{name: a, cases: [{where: [1], result: 1}]}]", ["1:35: tools.0.cases.0.where: expected a mapping"]),
        ("mcp: [{name: fs}]", ["1:7: mcp.0: exactly one of command and url is needed, found none"]),
        ("mcp: [{name: fs, url: a, env: {A: b}}]", ["1:31: mcp.0.env: does not go with url; accepted with command"]),
        ("mcp: [{name: a-b, url: a}, {name: A_B, url: b}]", ["1:35: mcp.1.name: 'a_b' is already entry 1"]),
        (
            "tools: [{name: a, result: 1}]\nmcp: [{name: s, url: u, tools: [{name: a, result: 1}]}]",
            ["2:40: mcp.0.tools.0.name: also has a result under tools; keep one"],
        ),
        ("mcp: [{name: s, url: u, tools: [{name: a, schem: 1}]}]", ["1:43: mcp.0.tools.0.schem: unknown key; did y"]),
        (
            "mcp: [{name: s, url: u, limits: {result: 64}}]",
            ["1:42: mcp.0.limits.result: 64 is no size; accepted: 512B,"],
        ),
        ("pins: [{why: x}]", ["1:8: pins.0: pins everything; give at, match or kind"]),
        ('pins: [{at: "a[0"}]', ["1:13: pins.0.at: bad path: 'a[0': nothing readable at column 2; accepted: messages"]),
        ("pins: [{match: (}]", ["1:16: pins.0.match: bad regular expression '(': missing )"]),
        (
            "pins: [{unordered: true, match: a}]",
            ["1:20: pins.0.unordered: does not go with match", "1:20: pins.0.unor"],
        ),
        ("pins: [{at: a, kind: time}]", ["1:22: pins.0.kind: found 'time'; accepted: 'date' or 'path'"]),
        ("skip_unless_env: OPENAI_API_KEY", ["1:18: skip_unless_env: expected a list, found 'OPENAI_API_KEY'"]),
        (
            "enforce: maybe",
            ["1:10: enforce: found 'maybe'; accepted: observe, forbidden, confirmation, or a list of the"],
        ),
        ("enforce: [forbid]", ["1:11: enforce.0: found 'forbid'; accepted: 'forbidden' or 'confirmation'"]),
        ("control: {id: a}", ["1:10: control: required key 'title' is missing"]),
        ("steps: []", ["1:8: steps: no prompt", "1:8: steps: nothing is asserted"]),
        (
            "steps: [{prompt: go}]",
            ["1:8: steps: nothing is asserted: the flow could not fail; accepted: assert_tool_call"],
        ),
        ("expect: {strict: true}\nsteps: [{prompt: go}]", ["2:8: steps: nothing is asserted"]),
        ("expect: {calls: []}\nsteps: [{prompt: go}]", ["2:8: steps: nothing is asserted"]),
        ("steps: [{assert: reply is x}]", ["1:8: steps: no prompt: the agent would be given no task"]),
        ("agent: {command: '${a-b}'}", ["1:19: agent.command: '${' is no variable reference; accepted: ${NAME}"]),
        ("agent: {command: 'x ${A'}", ["1:21: agent.command: '${' is no variable reference"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said_with_its_place(wrong: Wrong, text: str, problems: list[str]) -> None:
    found = wrong(text)
    assert [line[: len(expected)] for line, expected in zip(found, problems, strict=True)] == problems


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (
            "assert_tool_cal: x",
            "3: steps.1.assert_tool_cal: unknown key; did you mean 'assert_tool_call'? accepted: prompt",
        ),
        (
            "assert_tool_call: x where a equal b",
            "31: steps.1.assert_tool_call: 'equal' is no matcher; accepted after a",
        ),
        ('assert_tool_call: "x where a equal b"', "32: steps.1.assert_tool_call: 'equal' is no matcher"),
        (
            "assert_tool_call: >-\n    x where\n    a equal b",
            "21: steps.1.assert_tool_call: at character 11 of the text:",
        ),
        ("assert_tool_call: x where a matches (", "39: steps.1.assert_tool_call: bad regular expression"),
        ("assert_tool_call: {where: a exists}", "21: steps.1.assert_tool_call: required key 'tool' is missing"),
        (
            "assert_tool_call: {tool: x, tims: 2}",
            "31: steps.1.assert_tool_call.tims: unknown key; did you mean 'times'?",
        ),
        ("assert_tool_call: {tool: x, times: 0}", "38: steps.1.assert_tool_call.times: 0 is too small; accepted: 1 "),
        (
            "assert_tool_call: {tool: x, args: [1]}",
            "37: steps.1.assert_tool_call.args: expected a mapping, found a list",
        ),
        (
            "assert_tool_call: {tool: x, args: {}, args_exact: {}}",
            "53: steps.1.assert_tool_call.args_exact: does not go",
        ),
        (
            "assert_tool_call: {tool: x, at: tool}",
            "35: steps.1.assert_tool_call.at: found 'tool'; accepted: 'model' or",
        ),
        ("assert_tool_call: {tool: x, at: mcp}", "3: steps.1: at: mcp needs a server under mcp, none is declared"),
        ("assert_no_tool_call: {tool: x, times: 1}", "3: steps.1: times does not go with a step that says never"),
        ("assert_tool_request: {tool: x, at: model}", "3: steps.1: at does not go with a request"),
        (
            "assert_tool_call: {tool: x, where: {a: {}}}",
            "42: steps.1.assert_tool_call.where.a: no matcher here; accepted",
        ),
        (
            "assert_tool_call: {tool: x, where: {a: {eq: 1}}}",
            "47: steps.1.assert_tool_call.where.a.eq: 'eq' is no matcher",
        ),
        (
            "assert_tool_call: {tool: x, where: {a: {<: b}}}",
            "46: steps.1.assert_tool_call.where.a.<: expected a number",
        ),
        (
            "assert_tool_call: {tool: x, where: {a: {in: []}}}",
            "47: steps.1.assert_tool_call.where.a.in: expected a list",
        ),
        (
            "assert_tool_call: {tool: x, where: {a: {exists: no}}}",
            "51: steps.1.assert_tool_call.where.a.exists: expected",
        ),
        (
            "assert_tool_call: {tool: x, where: {a..b: 1}}",
            "45: steps.1.assert_tool_call.where.a..b: bad path, at character",
        ),
        ("assert_tool_call: {tool: x, where: a exist}", "40: steps.1.assert_tool_call.where: 'exist' is no matcher"),
        ("assert_tool_call: [x]", "21: steps.1.assert_tool_call: expected a mapping, found a list"),
        (
            "assert: reply says x",
            "17: steps.1.assert: 'says' is no matcher of the reply; accepted: reply contains|is TEXT",
        ),
        ("assert: {reply: {says: x}}", "26: steps.1.assert.reply.says: 'says' is no matcher of the reply"),
        ("assert: {reply: x}", "19: steps.1.assert.reply: expected one matcher, found 'x'"),
        (
            "assert: reply contains ticket #5",
            "11: steps.1.assert: YAML reads '#5' as a comment; put the text in quotes",
        ),
        ("{prompt: a, assert: reply is x}", "3: steps.1: a step has exactly one key, found assert and prompt"),
        ("assert_no_egres", "3: steps.1: 'assert_no_egres' is no step; accepted: KEY: VALUE, or the bare word"),
        ("assert_no_egress: false", "21: steps.1.assert_no_egress: found false; accepted: true"),
        (
            "assert_no_secret_leak: hunter2",
            "26: steps.1.assert_no_secret_leak: 'hunter2' is no variable; accepted: ${NA",
        ),
        ("assert_no_secret_leak: []", "26: steps.1.assert_no_secret_leak: names no variable"),
        ("5", "3: steps.1: expected a mapping, found 5"),
    ],
)
def test_what_is_wrong_with_a_step_points_into_its_text(wrong: Wrong, step: str, problem: str) -> None:
    found = wrong(f"steps:\n- prompt: go\n- {step}\n- assert: reply is ok")
    assert [line[: len(problem) + 2] for line in found] == [f"3:{problem}"]


def test_a_text_that_yaml_cannot_read_bare_is_told_how_to_be_written(wrong: Wrong) -> None:
    assert wrong("steps:\n- assert: reply contains a: b") == [
        "2:27: not YAML: mapping values are not allowed in this context; a text that holds ': ' must be in quotes"
    ]
    assert wrong("pins: [{at: messages[0].content}]")[0].endswith(
        "inside { } and [ ] a text that holds any of [ ] { } , must be in quotes"
    )


def test_a_must_and_an_unconditional_never_contradict(wrong: Wrong, spec: Load) -> None:
    both = "steps:\n- prompt: go\n- assert_tool_call: pay\n- assert_no_tool_call: pay{}"
    assert wrong(both.format("")) == ["4:3: steps.2: contradicts step 2, which demands 'pay'"]
    assert spec(both.format(" where amount > 10"))
    guard = "steps:\n- prompt: go\n- assert_tool_request: pay\n- assert_no_tool_call: pay"
    assert spec(guard)


def test_a_redacted_text_that_is_too_short_to_be_hidden_is_refused(wrong: Wrong) -> None:
    assert wrong("redact: { values: [ longer, pw1 ] }") == [
        "1:29: redact.values.1: 3 characters cannot be hidden, a text is found by accident below 6; "
        "accepted: longer texts, redact.keys"
    ]


def test_a_long_wrong_value_is_told_by_its_beginning(wrong: Wrong) -> None:
    (problem,) = wrong(f"strict: {'y' * 10_000}")
    assert "yyy" in problem and len(problem) < 400


def test_all_problems_are_told_at_once_in_the_order_of_the_file(wrong: Wrong) -> None:
    found = wrong("strict: 1\nagent: {command: ''}\nfoo: 1\nsteps:\n- promt: x\n- assert: reply\n")
    assert [line.split(":")[0] for line in found] == ["1", "2", "3", "5", "5", "6"]


def test_keys_without_an_engine_are_errors_not_silence(wrong: Wrong) -> None:
    text = """\
agent: { command: a, allow_egress: [x], output: reply }
mcp: [ { name: s, url: u } ]
expect: { tools: {} }
enforce: [ forbidden ]
client: codex
steps:
- prompt: go
- assert: reply is ok
- assert_no_egress
- assert_no_secret_leak: ${A}
"""
    found = wrong(text, supported=frozenset({"command"}))
    said = "not supported yet by this version of flowproof; remove it"
    assert found == [
        f"{place}: {said}"
        for place in (
            "1:22: agent.allow_egress",
            "1:41: agent.output",
            "2:1: mcp",
            "3:1: expect",
            "4:1: enforce",
            "5:1: client",
            "9:3: steps.2",
            "10:3: steps.3.assert_no_secret_leak",
        )
    ]


def test_keys_that_ask_for_nothing_need_no_engine(spec: Load) -> None:
    assert spec("expect: {}\nenforce: observe\nfaults: []\nmcp: []\n", supported=frozenset({"command"}))


def test_every_capability_is_known_by_the_key_that_asks_for_it() -> None:
    assert frozenset(NEEDED_BY.values()) >= SUPPORTED


@pytest.mark.parametrize(
    ("driver", "written", "output"),
    [
        ("command: a", "reply", Output("reply")),
        ("command: a", "reply json", Output("reply json")),
        ("command: a", "tool report it", Output("tool", "report it")),
        ("command: a", "file out/x.json", Output("file", "out/x.json")),
        ("url: a, proxy_port: 1", "body", Output("body")),
        ("adapter: a", "adapter", Output("adapter")),
    ],
)
def test_places_of_structured_output(spec: Load, driver: str, written: str, output: Output) -> None:
    assert spec(f"agent: {{{driver}, output: {written}}}").spec.agent.output == output


@pytest.mark.parametrize(("written", "seconds"), [("250ms", 0.25), ("90s", 90), ("1.5m", 90), ("1h", 3600)])
def test_durations(spec: Load, written: str, seconds: float) -> None:
    assert spec(f"agent: {{command: a, timeout: {written}}}").spec.agent.timeout == seconds


def test_a_command_may_be_a_list_and_then_no_word_is_judged(spec: Load) -> None:
    assert spec("agent: {command: [sh, -c, 'a | b', 5, '&&']}").spec.agent.command == ("sh", "-c", "a | b", "5", "&&")


def test_any_exit_code_needs_a_reason(spec: Load) -> None:
    codes = spec("agent: {command: a, expect_exit: {any: killed by its supervisor}}").spec.agent.expect_exit
    assert codes.accepts(137) and codes.reason == "killed by its supervisor"
    assert not ExitCodes().accepts(3)


class TestFilesForResults:
    """`$file` reads a result from beside the spec."""

    def test_json_yaml_and_text(self, spec: Load, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d/a.json").write_text('{"x": [1, 1.5, null, "\\u00e9"], "big": 12345678901234567890}')
        (tmp_path / "b.yml").write_text("no: off\nn: 1\n")
        (tmp_path / "c.txt").write_text("hello\n")
        tools = spec(
            "tools:\n- {name: a, result: {$file: d/a.json}}\n- {name: b, results: [{$file: b.yml}]}\n"
            "- {name: c, cases: [{result: {text: {$file: c.txt}}}]}\n"
        ).spec.tools
        assert tools[0].result == {"x": [1, 1.5, None, "é"], "big": 12345678901234567890}
        assert tools[1].results == ({"no": "off", "n": 1},)
        assert tools[2].cases[0].result == {"text": "hello\n"}

    @pytest.mark.parametrize(
        ("entry", "content", "said"),
        [
            ("{$file: nope.json}", None, "nope.json cannot be read: No such file or directory"),
            ("{$file: ../x.json}", None, "../x.json lies outside the spec's folder"),
            ("{$file: /etc/passwd}", None, "/etc/passwd lies outside the spec's folder"),
            ("{$file: link.json}", None, "link.json lies outside the spec's folder"),
            ("{$file: 5}", None, "not readable as a file name; accepted: { $file: PATH } and no more"),
            ("{$file: f.json, a: 1}", "1", "not readable as a file name; accepted: { $file: PATH } and no more"),
            ("{$file: f.json}", "{", "f.json is not JSON: Expecting property name"),
            ("{$file: f.json}", '{"a": 1, "a": 2}', "f.json is not JSON: an object has the same key twice"),
            ("{$file: f.json}", "NaN", "f.json is not JSON: NaN is not JSON"),
            ("{$file: f.json}", "[" * 100_000, "f.json is not JSON: maximum recursion depth"),
            ("{$file: f.yaml}", "a: &a [*a]", "f.yaml:1:8: a.0: alias *a contains itself"),
            ("{$file: f.txt}", b"\xff", "f.txt is not UTF-8 text"),
            ("{$file: f.txt}", "x" * 4_000_001, "f.txt is larger than 4,000,000 bytes"),
        ],
    )
    def test_what_cannot_be_read(
        self, wrong: Wrong, tmp_path: Path, entry: str, content: str | bytes | None, said: str
    ) -> None:
        (tmp_path / "link.json").symlink_to("/etc/hostname")
        if content is not None:
            name = entry.split()[1].rstrip("},")
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        [problem] = wrong(f"tools: [{{name: a, result: {entry}}}]")
        assert problem.split("$file: ", 1)[1].startswith(said)
        assert problem.startswith("1:")


class TestUnreadableFiles:
    """One clear message, and never a traceback."""

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "1:1: the file is empty"),
            (b"name: \xff\n", "1:1: not UTF-8 text; save the file as UTF-8"),
            (b"- a", "1:1: a spec is a mapping: name, app, agent, steps"),
            (b"<<<<<<< HEAD\nname: a\n", "1:1: merge conflict markers; resolve the conflict first"),
        ],
    )
    def test_content(self, tmp_path: Path, content: bytes, said: str) -> None:
        path = tmp_path / "x.flow.yaml"
        path.write_bytes(content)
        with pytest.raises(SpecError) as caught:
            load(path)
        assert str(caught.value) == f"{path}:{said}"

    def test_a_missing_file_and_a_folder(self, tmp_path: Path) -> None:
        for path, said in ((tmp_path / "no", "No such file or directory"), (tmp_path, "Is a directory")):
            with pytest.raises(FlowproofError, match=f"{path}: cannot be read: {said}"):
                load(path)

    def test_crlf_and_a_byte_order_mark_are_the_same_spec(self, spec: Load, tmp_path: Path) -> None:
        plain = spec("")
        path = tmp_path / "x.flow.yaml"
        text = path.read_text()
        path.write_bytes(text.replace("\n", "\r\n").encode())
        assert (load(path).digest, load(path).spec) == (plain.digest, plain.spec)
        assert plain.digest == hashlib.sha256(text.encode()).hexdigest()
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert load(path).spec == plain.spec
