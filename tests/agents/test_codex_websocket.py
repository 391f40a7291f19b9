"""Codex over the Responses WebSocket, against a model that speaks nothing else."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest
import yaml
from tests.agents.test_clients import divergences, flow_of, homes
from tests.e2e.sockets import SocketUpstream
from tests.e2e.upstream import Answer, Seen

from flowproof_addons.dialects import sse
from standin import coder
from standin.server import StandIn

pytestmark = pytest.mark.agents


def test_codex_is_recorded_over_its_socket_and_replays(tmp_path: Path) -> None:
    with StandIn(coder.choose) as model:

        def answer(seen: Seen) -> Answer:
            asked = urllib.request.Request(model.url + seen.path, seen.body, {"content-type": "application/json"})
            with urllib.request.urlopen(asked, timeout=20) as reply:
                return Answer(sse.split(reply.read()))

        with SocketUpstream(answer) as sockets:
            flow = flow_of("codex", tmp_path, sockets.url)
            command = yaml.safe_load(flow.spec.read_text())["agent"]["command"]
            spoken = command.replace("codex exec", "codex exec -c model_providers.flowproof.supports_websockets=true")
            flow.change(agent={"command": spoken, "responses_websocket": True})
            recorded = flow.record(**homes(tmp_path, "first"))
            assert recorded.code == 0, recorded.said
            assert len(sockets.said) >= 2
            asked = len(sockets.said)
            replayed = flow.run(**homes(tmp_path, "second"))
            assert replayed.code == 0, replayed.said
            flow.edit("What do my notes say?", "What do my notes say now?")
            assert divergences(flow.run(**homes(tmp_path, "third"))) == 1
            assert len(sockets.said) == asked
