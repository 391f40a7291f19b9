"""The way to the model: https of a private authority, path prefixes, a proxy with a password; and what is said where
it is closed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e import brain
from tests.e2e.gateway import Authority, Proxy
from tests.e2e.scenario import Outcome, Scenario, chat
from tests.e2e.upstream import Upstream

type New = Callable[..., Scenario]

KEY = "sk-real-1234567890"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    (tmp_path / "authority").mkdir()
    return Authority(tmp_path / "authority")


@pytest.fixture
def model(authority: Authority) -> Iterator[Upstream]:
    """`https://model.example`, to whoever is led to it."""
    with Upstream(brain.answer, tls=authority.context("model.example")) as server:
        yield server


def refused(outcome: Outcome, flow: Scenario, *words: str) -> None:
    """One message, exit 2, nothing kept."""
    assert (outcome.code, outcome.flow.verdict) == (2, "error"), outcome.said
    (problem,) = [finding.message for finding in outcome.findings if finding.kind == "problem"]
    for word in words:
        assert word in problem, problem
    assert KEY not in outcome.said
    assert not flow.cassette.exists()


def test_it_is_recorded_through_a_proxy_and_from_a_private_authority(
    planned: New, model: Upstream, authority: Authority
) -> None:
    """Credentials reach whom they are for: the proxy's the proxy, the model's the model, none the cassette."""
    flow = planned([chat("one"), chat("two", stream=True)])
    with Proxy(model.port, "me:pass%word") as proxy:
        shell = {
            "HTTPS_PROXY": f"http://me:pass%25word@{proxy.address}",
            "SSL_CERT_FILE": str(authority.file),
            "FLOWPROOF_AGENT_UPSTREAM": "https://model.example/llm/v1",
            "FLOWPROOF_AGENT_KEY": KEY,
        }
        recorded = flow.record(**shell)
        assert recorded.code == 0, recorded.said
        assert set(proxy.asked) == {"CONNECT model.example:443 HTTP/1.1"}
    assert [seen.target for seen in model.seen] == ["/llm/v1/chat/completions"] * 2
    for seen in model.seen:
        assert (seen.header("authorization"), seen.header("host")) == (f"Bearer {KEY}", "model.example")
        assert seen.header("proxy-authorization") is None
    written = b"".join(path.read_bytes() for path in flow.folder.rglob("*") if path.is_file())
    for secret in (b"pass%word", b"pass%25word", KEY.encode()):
        assert secret not in written
    replayed = flow.run(**shell)
    assert (replayed.code, replayed.printed) == (0, recorded.printed), replayed.said


def test_an_authority_nobody_knows_is_told_with_the_way_to_make_it_known(
    planned: New, model: Upstream, authority: Authority
) -> None:
    flow = planned([chat()])
    outcome = flow.record(FLOWPROOF_AGENT_UPSTREAM=model.url, FLOWPROOF_AGENT_KEY=KEY)
    refused(outcome, flow, model.url, "ertificate", "SSL_CERT_FILE")


@pytest.mark.parametrize("file", ["nowhere.pem", "flow.flow.yaml"])
def test_authorities_that_cannot_be_read_are_an_error_before_anything_starts(
    planned: New, model: Upstream, file: str
) -> None:
    flow = planned([chat()])
    shell = {"FLOWPROOF_AGENT_UPSTREAM": model.url, "FLOWPROOF_AGENT_KEY": KEY, "SSL_CERT_FILE": file}
    outcome = flow.record(**shell)
    refused(outcome, flow, f"SSL_CERT_FILE='{file}' cannot be used", "PEM")
    assert outcome.flow.agent is None


def test_a_proxy_that_lets_nobody_through_is_named(planned: New, model: Upstream) -> None:
    flow = planned([chat()])
    with Proxy(model.port, "me:password") as proxy:
        shell = {"FLOWPROOF_AGENT_UPSTREAM": "https://model.example", "FLOWPROOF_AGENT_KEY": KEY}
        outcome = flow.record(**shell, HTTPS_PROXY=f"http://me:wrong@{proxy.address}")
        refused(outcome, flow, "https://model.example:443", proxy.address, "407", "check HTTP_PROXY")
    assert "wrong@" not in outcome.said
    gone = flow.record(**shell, HTTPS_PROXY=f"http://{proxy.address}")
    refused(gone, flow, proxy.address, "check HTTP_PROXY")


@pytest.mark.parametrize("url", ["socks5://me:secret@127.0.0.1:9", "http://me:secret@127.0.0.1:port"])
def test_a_proxy_that_cannot_be_used_is_told_without_its_password(planned: New, url: str) -> None:
    flow = planned([chat()])
    outcome = flow.record(FLOWPROOF_AGENT_UPSTREAM="https://model.example", FLOWPROOF_AGENT_KEY=KEY, HTTPS_PROXY=url)
    refused(outcome, flow, "HTTPS_PROXY", "is not usable")
    assert "secret" not in outcome.said


def test_a_host_that_nobody_knows_is_named(planned: New) -> None:
    """An agent that makes the best of the failure (it prints it and ends well) does not make it a recording."""
    flow = planned([chat()])
    outcome = flow.record(FLOWPROOF_AGENT_UPSTREAM="http://nowhere.invalid", FLOWPROOF_AGENT_KEY=KEY)
    refused(outcome, flow, "http://nowhere.invalid:80", "check FLOWPROOF_AGENT_UPSTREAM")
    assert json.loads(outcome.printed)["status"] >= 400
