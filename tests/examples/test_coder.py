import http.client
import json
import re

import pytest

from flowproof_addons.dialects import raw, registry
from flowproof_addons.trace.model import JsonBody, JsonValue, Request
from standin import coder
from standin.script import Rule
from standin.server import StandIn

SHELL: JsonValue = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOLD = "Remember: the ferry leaves at nine."


def answered(path: str, body: dict[str, JsonValue]) -> Rule:
    dialect = registry.default().find("POST", path)
    assert dialect is not None
    return coder.choose(dialect.read_request(Request("POST", path, "", JsonBody(body))), body)


CHAT = "/v1/chat/completions"
OFFERS: list[tuple[str, dict[str, JsonValue]]] = [
    (CHAT, {"tools": [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}]}),
    ("/v1/responses", {"tools": [{"type": "function", "name": "shell_command", "parameters": SHELL}]}),
    ("/v1/messages", {"tools": [{"name": "Read", "input_schema": {}}, {"name": "Bash", "input_schema": SHELL}]}),
    (
        "/v1beta/models/m:generateContent",
        {"tools": [{"functionDeclarations": [{"name": "run_shell_command", "parametersJsonSchema": SHELL}]}]},
    ),
]


@pytest.mark.parametrize(("path", "body"), OFFERS, ids=lambda given: given if isinstance(given, str) else "")
def test_it_asks_for_both_files_at_once_with_the_shell_it_is_offered(path: str, body: dict[str, JsonValue]) -> None:
    rule = answered(path, body)
    assert [call.arguments for call in rule.call] == [{"command": "cat notes.txt"}, {"command": "cat fares.txt"}]


@pytest.mark.parametrize(
    ("parameter", "schema", "passed"),
    [
        ("cmd", {"type": "string"}, "cat notes.txt"),
        ("commands", {"type": "array"}, ["cat notes.txt"]),
        ("command", {"type": "ARRAY"}, ["bash", "-c", "cat notes.txt"]),
    ],
)
def test_it_passes_a_command_as_the_schema_has_it(parameter: str, schema: JsonValue, passed: JsonValue) -> None:
    others: dict[str, JsonValue] = {
        "why": {"type": "string"},
        "wait": {"type": "boolean"},
        "risk": {"type": "string", "enum": ["LOW", "HIGH"]},
    }
    parameters: JsonValue = {"properties": {parameter: schema, **others}, "required": ["why", "wait", "risk"]}
    rule = answered(CHAT, {"tools": [{"function": {"name": "terminal", "parameters": parameters}}]})
    expected = {"why": "look into the notes", "wait": False, "risk": "LOW", parameter: passed}
    assert rule.call[0].arguments == expected


def test_it_calls_the_shell_from_code_where_only_code_is_taken() -> None:
    tool: JsonValue = {"type": "custom", "name": "exec", "description": "for example `tools.exec_command(...)`"}
    offer: JsonValue = {"type": "additional_tools", "tools": [{"type": "namespace", "name": "f", "tools": [tool]}]}
    call = answered("/v1/responses", {"input": [offer]}).call[0]
    assert (call.tool, call.freeform) == ("exec", True)
    assert call.arguments == 'text(await tools.exec_command({"cmd":"cat notes.txt"}));'


def told(*results: str) -> list[JsonValue]:
    calls: list[JsonValue] = [{"id": str(n), "function": {"name": "bash"}} for n, _ in enumerate(results)]
    answers: list[JsonValue] = [
        {"role": "tool", "tool_call_id": str(n), "content": text} for n, text in enumerate(results)
    ]
    return [{"role": "assistant", "tool_calls": calls}, *answers]


def test_it_tells_what_it_found_whatever_came_first() -> None:
    offer = OFFERS[0][1]
    one = answered(CHAT, {**offer, "messages": told(f"x\n{TOLD}\ny", "Remember: a ticket costs forty.")})
    other = answered(CHAT, {**offer, "messages": told("Remember: a ticket costs forty.", TOLD)})
    assert one.say == other.say == f"Remember: a ticket costs forty. {TOLD}" and not one.call


def test_it_says_so_when_there_was_nothing_to_find() -> None:
    assert answered(CHAT, {**OFFERS[0][1], "messages": told("no such file")}).say == "There is nothing to remember."


def test_without_a_shell_it_looks_into_the_request() -> None:
    assert answered(CHAT, {"messages": [{"role": "user", "content": f"notes.txt\n{TOLD}"}]}).say == TOLD
    assert answered(CHAT, {"messages": [{"role": "user", "content": "A title, please."}]}).say == "Notes and fares"


def test_it_ends_an_agent_that_wants_a_last_command() -> None:
    system: JsonValue = {"role": "system", "content": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}
    (call,) = answered(CHAT, {**OFFERS[0][1], "messages": [system, *told(TOLD)]}).call
    assert raw.at(raw.arguments(call.text), "command") == f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo '{TOLD}'"


@pytest.mark.parametrize("path", [path for path, _ in OFFERS])
@pytest.mark.parametrize("stream", [False, True])
def test_it_answers_the_same_over_the_wire_in_every_api(path: str, stream: bool) -> None:
    body = {**dict(OFFERS)[path], **({"stream": True} if stream else {})}
    if stream:
        path = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    replies = set[bytes]()
    for _ in range(2):
        with StandIn(coder.choose) as model:
            connection = http.client.HTTPConnection("127.0.0.1", model.server_port, timeout=60)
            connection.request("POST", path, json.dumps(body).encode())
            reply = connection.getresponse()
            assert reply.status == 200
            replies.add(reply.read())
            connection.close()
    (said,) = replies
    assert len(re.findall(rb'"name":"(?:bash|Bash|shell_command|run_shell_command)"', said)) >= 2, said
