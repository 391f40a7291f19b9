"""Streamable HTTP as clients meet it, byte by byte: statuses, sessions, streams, batches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import h11
import pytest
from tests.addons.mcp.stage import note, request, said, tool_call

from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.http import Exchange, HttpDoor
from flowproof_addons.mcp.http_record import PreflightError
from flowproof_addons.mcp.lane import Call, Frame, Lane, Listing
from flowproof_addons.mcp.lanes import LaneResult, Lanes
from flowproof_addons.mcp.message import Message
from flowproof_addons.session import McpServer, McpTool, MockResult, Session
from flowproof_addons.trace.model import JsonValue

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
OPENING = request(0, "initialize", {"protocolVersion": "2025-11-25"})


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole HTTP answer, or as much of a stream as came."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> JsonValue:
        value: JsonValue = json.loads(self.body)
        return value

    @property
    def events(self) -> list[JsonValue]:
        return [json.loads(line[6:]) for line in self.body.split(b"\n") if line.startswith(b"data: ")]


async def send(
    address: tuple[str, int],
    method: str,
    body: JsonValue = None,
    path: str = "/mcp",
    until: bytes | None = None,
    **headers: str,
) -> Reply:
    """One request on a connection of its own; `until`: hang up once these bytes came."""
    reader, writer = await asyncio.open_connection(*address)
    connection = h11.Connection(h11.CLIENT)
    data = json.dumps(body).encode() if body is not None else b""
    sent = {"host": "127.0.0.1", **ACCEPT, **{n.replace("_", "-"): v for n, v in headers.items()}}
    if method == "POST":
        sent["content-length"] = str(len(data))
    writer.write(connection.send(h11.Request(method=method, target=path, headers=list(sent.items()))) or b"")
    writer.write((connection.send(h11.Data(data=data)) or b"") if data else b"")
    connection.send(h11.EndOfMessage())
    status, found, received = 0, dict[str, str](), b""
    try:
        async with asyncio.timeout(60):
            while until is None or until not in received:
                event = connection.next_event()
                if event is h11.NEED_DATA:
                    connection.receive_data(await reader.read(65536))
                elif isinstance(event, h11.Response):
                    status, found = event.status_code, {n.decode(): v.decode() for n, v in event.headers}
                elif isinstance(event, h11.Data):
                    received += event.data
                else:
                    break
    finally:
        writer.close()
    return Reply(status, found, received)


type Scenario = Callable[[tuple[str, int]], Awaitable[None]]


def run(folder: Path, server: McpServer, scenario: Scenario, recorded: Lane | None = None) -> LaneResult:
    """Open a lane, speak HTTP to it, close it."""
    lanes_: dict[str, JsonValue] = {} if recorded is None else {"files": lane_file.dump(recorded)}
    session = Session(id="x", phase="replay" if lanes_ else "record", folder=folder, mcp=(server,))

    async def go() -> LaneResult:
        lanes = Lanes(session, lanes_, lambda event: None)
        try:
            await lanes.start()
            await scenario(lanes.upstream("files"))
        finally:
            result = await lanes.close()
        return result["files"]

    return asyncio.run(go())


FILES = McpServer(name="files", url="http://127.0.0.1:1/mcp")


def call(number: int, tool: str, text: str, *frames: Frame, **more: object) -> Call:
    made = Call(
        method="tools/call",
        params={"name": tool, "arguments": {}},
        opened=10 * number,
        closed=10 * number + 9,
        outcome=rpc.outcome(said(0, text)),
        frames=frames,
    )
    return replace(made, **more)  # type: ignore[arg-type]


INITIALIZE = Listing(
    method="initialize",
    params={},
    protocol="2025-11-25",
    outcome={"result": {"protocolVersion": "2025-11-25"}},
    after=0,
)


def lane(*calls: Call, **more: object) -> Lane:
    return Lane(transport="http", calls=calls, catalogue=(INITIALIZE,), session_ids=True, **more)  # type: ignore[arg-type]


async def opened(address: tuple[str, int]) -> str:
    """A session's id."""
    reply = await send(address, "POST", OPENING)
    assert reply.status == 200
    ready = await send(
        address, "POST", note("notifications/initialized"), mcp_session_id=reply.headers["mcp-session-id"]
    )
    assert (ready.status, ready.body) == (202, b"")
    return reply.headers["mcp-session-id"]


class TestReplay:
    def test_a_session_from_its_opening_to_its_end(self, tmp_path: Path) -> None:
        async def scenario(address: tuple[str, int]) -> None:
            session = await opened(address)
            answer = await send(address, "POST", tool_call("x", "a"), mcp_session_id=session)
            assert answer.headers["content-type"] == "application/json"
            assert answer.json == said("x", "A")
            assert (await send(address, "DELETE", mcp_session_id=session)).status == 200
            assert (await send(address, "POST", tool_call(1, "a"), mcp_session_id=session)).status == 404

        assert run(tmp_path, FILES, scenario, lane(call(1, "a", "A"))).findings == ()

    def test_an_answer_with_notifications_before_it_is_a_stream_without_ids(self, tmp_path: Path) -> None:
        frame = Frame(at=11, message=note("notifications/message", data="working"))

        async def scenario(address: tuple[str, int]) -> None:
            answer = await send(address, "POST", tool_call(1, "a"), mcp_session_id=await opened(address))
            assert answer.headers["content-type"] == "text/event-stream"
            assert answer.events == [frame.message, said(1, "A")]
            assert b"id:" not in answer.body.replace(b'"id":', b"")

        assert run(tmp_path, FILES, scenario, lane(call(1, "a", "A", frame))).findings == ()

    def test_a_push_waits_for_the_stream_and_a_second_stream_is_refused(self, tmp_path: Path) -> None:
        push = Frame(at=20, message=note("notifications/tools/list_changed"))

        async def scenario(address: tuple[str, int]) -> None:
            session = await opened(address)
            await send(address, "POST", tool_call(1, "a"), mcp_session_id=session)
            stream = asyncio.create_task(send(address, "GET", mcp_session_id=session, until=b"list_changed"))
            assert (await stream).events == [push.message]
            first, second = (asyncio.create_task(send(address, "GET", mcp_session_id=session)) for _ in range(2))
            done, _ = await asyncio.wait((first, second), return_when=asyncio.FIRST_COMPLETED)
            assert [task.result().status for task in done] == [409]
            for task in (first, second):
                task.cancel()
            await asyncio.gather(first, second, return_exceptions=True)

        run(tmp_path, FILES, scenario, lane(call(1, "a", "A"), pushes=(push,)))

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [
            ("GET", "/.well-known/oauth-protected-resource/mcp", 404),
            ("GET", "/.well-known/openid-configuration", 404),
            ("POST", "/register", 404),
            ("GET", "/mcp", 405),
            ("PUT", "/mcp", 405),
        ],
    )
    def test_what_is_not_there_says_so(self, tmp_path: Path, method: str, path: str, status: int) -> None:
        async def scenario(address: tuple[str, int]) -> None:
            assert (await send(address, method, {} if method == "POST" else None, path)).status == status

        run(tmp_path, FILES, scenario, lane())

    @pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp-exec/sap", "/mcp/mcp-exec", "/tenant/mcp"])
    def test_any_path_that_contains_the_base_is_the_server(self, tmp_path: Path, path: str) -> None:
        async def scenario(address: tuple[str, int]) -> None:
            assert (await send(address, "POST", tool_call(1, "a"), path)).json == said(1, "A")

        assert run(tmp_path, FILES, scenario, lane(call(1, "a", "A"))).findings == ()

    def test_an_error_keeps_its_http_status(self, tmp_path: Path) -> None:
        refused = call(1, "a", "", outcome={"error": {"code": -32601, "message": "no"}}, status=404)

        async def scenario(address: tuple[str, int]) -> None:
            answer = await send(address, "POST", tool_call(1, "a"))
            assert answer.status == 404
            assert answer.json == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}

        run(tmp_path, FILES, scenario, lane(refused))

    def test_a_batch_is_taken_apart_and_answered_as_one(self, tmp_path: Path) -> None:
        async def scenario(address: tuple[str, int]) -> None:
            batch: JsonValue = [tool_call(1, "a"), note("notifications/initialized"), tool_call(2, "b")]
            assert (await send(address, "POST", batch)).json == [said(1, "A"), said(2, "B")]

        assert run(tmp_path, FILES, scenario, lane(call(1, "a", "A"), call(2, "b", "B"))).findings == ()

    @pytest.mark.parametrize("body", [3, [], ["x"]])
    def test_what_is_not_json_rpc_is_400(self, tmp_path: Path, body: JsonValue) -> None:
        async def scenario(address: tuple[str, int]) -> None:
            assert (await send(address, "POST", body)).status == 400

        run(tmp_path, FILES, scenario, lane())

    def test_in_the_new_era_hanging_up_cancels_a_call(self, tmp_path: Path) -> None:
        cancelled = call(1, "slow", "", cancelled=15, closed=None, outcome=None)
        slow = tool_call(1, "slow", {rpc.META_VERSION: "2026-07-28"})

        async def scenario(address: tuple[str, int]) -> None:
            waiting = asyncio.create_task(send(address, "POST", slow))
            await asyncio.sleep(0.1)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert (await send(address, "POST", tool_call(2, "a"))).json == said(2, "A")

        assert run(tmp_path, FILES, scenario, lane(cancelled, call(2, "a", "A"))).findings == ()


# recording


class Remote:
    """A real server, as far as a test needs one: keeps what it was sent."""

    def __init__(self, answer: Callable[[Exchange, Message], None]) -> None:
        self._answer = answer
        self.seen: list[Exchange] = []

    async def __call__(self, exchange: Exchange) -> None:
        self.seen.append(exchange)
        message = json.loads(exchange.body) if exchange.body else {}
        self._answer(exchange, message[0] if isinstance(message, list) else message)


def plain(exchange: Exchange, message: Message) -> None:
    """Answers everything with JSON, opens sessions."""
    json_ = {"content-type": "application/json"}
    if rpc.method(message) == "initialize":
        opening = rpc.write({"jsonrpc": "2.0", "id": rpc.request_id(message), "result": {"a": 1e5}})
        exchange.respond(200, opening, {**json_, "mcp-session-id": "secret-session"})
    elif exchange.method == "DELETE":
        exchange.respond(200)
    elif "id" not in message:
        exchange.respond(202)
    elif json.loads(exchange.body)[:1] == [message] if exchange.body[:1] == b"[" else False:
        exchange.respond(200, rpc.write([said(m["id"], "A") for m in json.loads(exchange.body)]), json_)
    else:
        exchange.respond(200, rpc.write(said(message["id"], "A")), json_)


def recording(folder: Path, remote: Remote, scenario: Scenario, **declared: object) -> LaneResult:
    """Record from a remote that listens for as long as the scenario takes."""

    async def go() -> LaneResult:
        door = HttpDoor(remote)
        await door.open()
        server = McpServer(name="files", url=f"http://127.0.0.1:{door.address[1]}/real/mcp", **declared)  # type: ignore[arg-type]
        lanes = Lanes(Session(id="x", phase="record", folder=folder, mcp=(server,)), {}, lambda event: None)
        try:
            await lanes.start()
            await scenario(lanes.upstream("files"))
        finally:
            result = await lanes.close()
            await door.close()
        return result["files"]

    return asyncio.run(go())


class TestRecord:
    def test_requests_are_forwarded_unchanged_with_the_specs_headers_and_a_session_id_of_ours(
        self, tmp_path: Path
    ) -> None:
        remote = Remote(plain)

        async def scenario(address: tuple[str, int]) -> None:
            session = await opened(address)
            assert session == "flowproof-1"
            body = tool_call(1, "a", big=1)
            answer = await send(
                address, "POST", body, "/mcp-exec/sap", mcp_session_id=session, x_own="1", authorization="agent"
            )
            assert answer.json == said(1, "A")

        result = recording(tmp_path, remote, scenario, headers={"Authorization": "Bearer spec"})
        forwarded = remote.seen[-1]
        assert (forwarded.path, forwarded.headers["x-own"]) == ("/real/mcp", "1")
        assert forwarded.headers["authorization"] == "Bearer spec"
        assert forwarded.headers["mcp-session-id"] == "secret-session"
        assert forwarded.body == json.dumps(tool_call(1, "a", big=1)).encode()
        assert "secret-session" not in str(result.lane)
        assert "Bearer" not in str(result.lane)
        assert result.findings == ()

    @pytest.mark.parametrize("streamed", [False, True])
    def test_a_session_id_in_a_text_is_ours_for_the_agent_and_in_the_lane(self, tmp_path: Path, streamed: bool) -> None:
        real = "0f9c6f9e-4a59-41a6-9c1c-3f6f4e8a2b77"

        def telling(exchange: Exchange, message: Message) -> None:
            if rpc.method(message) == "initialize":
                opening = rpc.write({"jsonrpc": "2.0", "id": message["id"], "result": {}})
                exchange.respond(200, opening, {"content-type": "application/json", "mcp-session-id": real})
            elif rpc.method(message) == "tools/call" and streamed:
                exchange.stream()
                exchange.write(b"data: " + rpc.write(said(message["id"], f"session {real}")) + b"\n\n")
                exchange.end()
            elif rpc.method(message) == "tools/call":
                answer = rpc.write(said(message["id"], f"session {real}"))
                exchange.respond(200, answer, {"content-type": "application/json"})
            else:
                plain(exchange, message)

        remote = Remote(telling)

        async def scenario(address: tuple[str, int]) -> None:
            session = await opened(address)
            answer = await send(address, "POST", tool_call(1, "a", session=session), mcp_session_id=session)
            assert (answer.events if streamed else [answer.json]) == [said(1, f"session {session}")]

        result = recording(tmp_path, remote, scenario)
        assert json.loads(remote.seen[-1].body)["params"]["arguments"] == {"session": real}
        assert real not in str(result.lane)
        assert "session flowproof-1" in str(result.lane)

    def test_the_server_is_asked_before_the_agent_and_the_session_ended(self, tmp_path: Path) -> None:
        remote = Remote(plain)

        async def scenario(address: tuple[str, int]) -> None:
            assert [seen.method for seen in remote.seen] == ["POST", "DELETE"]

        assert [f["id"] for f in recording(tmp_path, remote, scenario).findings] == ["mcp.uncontacted"]

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_server_that_wants_credentials_fails_the_recording_before_the_agent(
        self, tmp_path: Path, status: int
    ) -> None:
        remote = Remote(lambda exchange, message: exchange.respond(status, b"", {"www-authenticate": "Bearer realm=x"}))

        async def never(address: tuple[str, int]) -> None:
            raise AssertionError("the agent was started")

        with pytest.raises(PreflightError, match=rf"answered {status} Bearer realm=x: put .* mcp\.files\.headers"):
            recording(tmp_path, remote, never)

    def test_a_server_that_is_not_there_fails_the_recording_before_the_agent(self, tmp_path: Path) -> None:
        async def never(address: tuple[str, int]) -> None:
            raise AssertionError("the agent was started")

        with pytest.raises(PreflightError, match=r"cannot be reached.*is the server running\?"):
            run(tmp_path, FILES, never)

    def test_a_stream_is_relayed_without_ids_and_taken_up_again_where_the_server_cuts_it(self, tmp_path: Path) -> None:
        """SEP-1699: a server may close the stream of an open call; the client comes back with the last event's id."""

        def cutting(exchange: Exchange, message: Message) -> None:
            if exchange.method == "GET":
                assert exchange.headers["last-event-id"] == "7"
                exchange.stream()
                exchange.write(b"id: 8\ndata: " + rpc.write(said(1, "A")) + b"\n\n")
                exchange.end()
            elif rpc.method(message) == "tools/call":
                exchange.stream()
                exchange.write(b"id: 6\nretry: 10\ndata:\n\n")
                exchange.write(b"id: 7\ndata: " + rpc.write(note("notifications/message", data="x")) + b"\n\n")
                exchange.end()
            else:
                plain(exchange, message)

        async def scenario(address: tuple[str, int]) -> None:
            answer = await send(address, "POST", tool_call(1, "a"))
            assert answer.events == [note("notifications/message", data="x"), said(1, "A")]
            assert b"retry" not in answer.body

        result = recording(tmp_path, Remote(cutting), scenario)
        assert result.findings == ()
        written = lane_file.load("files", result.lane)
        assert [frame.message["method"] for frame in written.calls[0].frames] == ["notifications/message"]

    def test_a_stream_that_ends_without_the_answer_fails_the_recording(self, tmp_path: Path) -> None:
        def breaking(exchange: Exchange, message: Message) -> None:
            if rpc.method(message) == "tools/call":
                exchange.stream()
                exchange.end()
            else:
                plain(exchange, message)

        async def scenario(address: tuple[str, int]) -> None:
            await send(address, "POST", tool_call(1, "a"))

        assert [f["id"] for f in recording(tmp_path, Remote(breaking), scenario).findings] == ["mcp.server.died"]

    @pytest.mark.parametrize("how", ["DELETE", "cancelled"])
    def test_what_the_agent_gave_up_need_not_be_answered(self, tmp_path: Path, how: str) -> None:
        called, ended = asyncio.Event(), asyncio.Event()

        class Patient(Remote):
            async def __call__(self, exchange: Exchange) -> None:
                if b"tools/call" in exchange.body:
                    exchange.stream()
                    called.set()
                    await ended.wait()
                    return exchange.end()
                await super().__call__(exchange)
                if called.is_set():
                    ended.set()

        async def scenario(address: tuple[str, int]) -> None:
            session = await opened(address)
            waiting = asyncio.create_task(send(address, "POST", tool_call(1, "a"), mcp_session_id=session))
            async with asyncio.timeout(60):
                await called.wait()
            if how == "DELETE":
                await send(address, "DELETE", mcp_session_id=session)
            else:
                await send(address, "POST", note("notifications/cancelled", requestId=1), mcp_session_id=session)
            assert (await waiting).events == []

        result = recording(tmp_path, Patient(plain), scenario)
        assert result.findings == ()
        (kept,) = lane_file.load("files", result.lane).calls
        assert (kept.outcome, kept.cancelled is not None) == (None, how == "cancelled")

    def test_a_server_that_hangs_is_given_up_and_the_agent_is_told(self, tmp_path: Path) -> None:
        async def hanging(exchange: Exchange) -> None:
            if b"tools/call" in exchange.body:
                await asyncio.sleep(60)
            plain(exchange, json.loads(exchange.body or b"{}"))

        async def scenario(address: tuple[str, int]) -> None:
            assert "did not answer in time" in str((await send(address, "POST", tool_call(1, "a"))).json)

        class Hanging(Remote):
            async def __call__(self, exchange: Exchange) -> None:
                await hanging(exchange)

        result = recording(tmp_path, Hanging(plain), scenario, call_s=0.2)
        assert [(f["id"], f["kind"]) for f in result.findings] == [("mcp.server.hung", "problem")]

    def test_a_declared_result_is_never_forwarded_not_even_out_of_a_batch(self, tmp_path: Path) -> None:
        remote = Remote(plain)
        paid = McpTool(name="pay", results=(MockResult(content="paid"),))

        async def scenario(address: tuple[str, int]) -> None:
            alone = await send(address, "POST", tool_call(1, "pay"))
            assert alone.json == said(1, "paid")
            both: JsonValue = [tool_call(2, "pay"), tool_call(3, "a")]
            assert (await send(address, "POST", both)).json == [said(3, "A"), said(2, "paid")]

        result = recording(tmp_path, remote, scenario, tools=(paid,))
        assert not any(b"pay" in seen.body for seen in remote.seen)
        assert [c.by for c in lane_file.load("files", result.lane).calls] == ["spec", "spec", "server"]

    def test_a_401_in_the_run_does_not_reach_the_agent_and_fails_the_recording(self, tmp_path: Path) -> None:
        def expired(exchange: Exchange, message: Message) -> None:
            exchange.respond(401) if rpc.method(message) == "tools/call" else plain(exchange, message)

        async def scenario(address: tuple[str, int]) -> None:
            assert (await send(address, "POST", tool_call(1, "a"))).status == 400

        result = recording(tmp_path, Remote(expired), scenario)
        assert [f["id"] for f in result.findings] == ["mcp.server.unauthorized"]

    @pytest.mark.parametrize("method", ["GET", "DELETE"])
    def test_nor_does_one_for_the_push_stream_or_the_end_of_a_session(self, tmp_path: Path, method: str) -> None:
        def expired(exchange: Exchange, message: Message) -> None:
            exchange.respond(401) if exchange.method == method else plain(exchange, message)

        async def scenario(address: tuple[str, int]) -> None:
            assert (await send(address, method, mcp_session_id=await opened(address))).status == 400

        result = recording(tmp_path, Remote(expired), scenario)
        assert [f["id"] for f in result.findings] == ["mcp.server.unauthorized"]

    def test_a_session_opened_after_the_end_of_another_has_an_id_of_its_own(self, tmp_path: Path) -> None:
        async def scenario(address: tuple[str, int]) -> None:
            first, second = await opened(address), await opened(address)
            assert (await send(address, "DELETE", mcp_session_id=first)).status == 200
            assert len({first, second, await opened(address)}) == 3
            assert (await send(address, "POST", tool_call(1, "a"), mcp_session_id=first)).status == 404
            assert (await send(address, "POST", tool_call(1, "a"), mcp_session_id=second)).json == said(1, "A")

        recording(tmp_path, Remote(plain), scenario)

    def test_ten_megabytes_pass_whole_in_both_phases(self, tmp_path: Path) -> None:
        def huge(exchange: Exchange, message: Message) -> None:
            if rpc.method(message) == "tools/call":
                answer = rpc.write(said(message["id"], "x" * 10_000_000))
                exchange.respond(200, answer, {"content-type": "application/json"})
            else:
                plain(exchange, message)

        async def scenario(address: tuple[str, int]) -> None:
            answer = await send(address, "POST", tool_call(1, "a"))
            assert len(answer.body) > 10_000_000

        result = recording(tmp_path, Remote(huge), scenario)
        assert result.findings == ()
        assert run(tmp_path, FILES, scenario, lane_file.load("files", result.lane)).findings == ()

    def test_a_push_stream_is_bridged_and_closed_with_the_agents(self, tmp_path: Path) -> None:
        gone = asyncio.Event()

        class Pushing(Remote):
            async def __call__(self, exchange: Exchange) -> None:
                if exchange.method != "GET":
                    return await super().__call__(exchange)
                exchange.stream()
                exchange.write(b"id: 1\ndata: " + rpc.write(note("notifications/tools/list_changed")) + b"\n\n")
                try:
                    await asyncio.sleep(60)
                finally:
                    gone.set()

        async def scenario(address: tuple[str, int]) -> None:
            session = await opened(address)
            stream = await send(address, "GET", mcp_session_id=session, until=b"list_changed")
            assert stream.events == [note("notifications/tools/list_changed")]
            async with asyncio.timeout(60):
                await gone.wait()

        result = recording(tmp_path, Pushing(plain), scenario)
        assert len(lane_file.load("files", result.lane).pushes) == 1
