"""The url driver posts the prompt once, and no HTTP status is a verdict."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from flowproof_runner.drivers.base import DriverError, Task
from flowproof_runner.drivers.dialogue import Dialogue, Script, Settling
from flowproof_runner.drivers.url import Url

type MakeTask = Callable[..., Task]


class Service(ThreadingHTTPServer):
    """Answers with `status` after `go`; with none at all where that is 0."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.go = Event()
        self.go.set()
        self.seen: list[tuple[dict[str, str], object]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/chat"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        service = self.server
        assert isinstance(service, Service)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        service.seen.append(({name.lower(): value for name, value in self.headers.items()}, body))
        service.go.wait(10)
        if not service.status:
            self.close_connection = True
            return
        self.send_response(service.status)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as service:
        thread = Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        yield service
        service.go.set()
        service.shutdown()
        thread.join()


@pytest.mark.parametrize("status", [200, 404, 500])
def test_whatever_the_status_the_service_has_ended(make_task: MakeTask, service: Service, status: int) -> None:
    service.status = status
    result = Url(service.url).run(make_task())
    told = () if status == 200 else (f"the service answered {status}",)
    assert (result.ending, result.exit_code, result.notes) == ("exited", None, told)
    assert result.stdout is not None and result.stdout.read_text() == "ok"
    assert result.output == "ok"


def test_the_prompt_and_the_headers_are_sent(
    make_task: MakeTask, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    Url(service.url, {"X-Tenant": "a", "X-Model": "${flowproof.proxy_url}"}).run(make_task("Grüße"))
    ((headers, body),) = service.seen
    assert body == {"prompt": "Grüße"}
    assert (headers["x-tenant"], headers["content-type"]) == ("a", "application/json")
    assert headers["x-model"] == "http://127.0.0.1:41233/v1"


def test_a_service_that_does_not_answer_times_out(make_task: MakeTask, service: Service) -> None:
    service.go.clear()
    assert Url(service.url).run(make_task(timeout_s=0.2)).ending == "timed out"


def test_a_divergence_ends_the_wait(make_task: MakeTask, service: Service) -> None:
    service.go.clear()
    task = make_task()
    task.diverged.set()
    result = Url(service.url).run(task)
    assert result.ending == "stopped after divergence"
    assert result.duration_s < 20, "it would have waited until its time was up"


def test_nothing_listening_says_what_to_start(make_task: MakeTask) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/chat"
        with pytest.raises(DriverError) as caught:
            Url(url).run(make_task())
    assert str(caught.value) == (
        f"agent.url {url!r}: nothing listens there. Start the service first, with its model base URL pointing at"
        " http://127.0.0.1:41233 (agent.proxy_port)"
    )


@pytest.mark.parametrize(("arrived", "wiring"), [(0, True), (1, False)])
def test_a_service_that_hangs_up_is_told_from_one_that_is_not_there(
    make_task: MakeTask, service: Service, arrived: int, wiring: bool
) -> None:
    """Most services do when their model cannot be reached, and that is what is wrong if no request came."""
    service.status = 0
    with pytest.raises(DriverError, match="the service hung up without an answer") as caught:
        Url(service.url).run(replace(make_task(), arrived=lambda: arrived))
    assert ("start it with its model base URL pointing at http://127.0.0.1:41233" in str(caught.value)) is wiring


def test_only_http_addresses_are_accepted(make_task: MakeTask) -> None:
    with pytest.raises(DriverError, match="give an http:// or https:// address"):
        Url("file:///etc/passwd").run(make_task())


class Line:
    """A boundary that only hears which user turn has begun."""

    def __init__(self) -> None:
        self.begun: list[int] = []

    def begin(self, user_turn: int) -> None:
        self.begun.append(user_turn)

    def settling(self, user_turn: int) -> Settling | None:
        return None


def test_each_user_turn_is_a_post_of_one_conversation(make_task: MakeTask, service: Service) -> None:
    """The answer is the end of a user turn; the id is one, and new in each run."""
    ids = set()
    for _ in range(2):
        service.seen.clear()
        talk = Dialogue(Script(("Which flights?", "Book it")), line := Line())
        headers = {"x-chat": "${flowproof.conversation}"}
        result = Url(service.url, headers).run(replace(make_task(talk.first()), dialogue=talk))
        assert (result.ending, line.begun) == ("exited", [2])
        assert [body for _, body in service.seen] == [
            {"prompt": text, "conversation": service.seen[0][0]["x-chat"], "turn": turn}
            for turn, text in enumerate(("Which flights?", "Book it"), start=1)
        ]
        assert result.stdout is not None and result.stdout.read_bytes() == b"ok\nok"
        ids.add(service.seen[0][0]["x-chat"])
    assert len(ids) == 2
