"""Our dialects pass the kit that third parties run, and the kit catches a dialect that breaks a rule."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from flowproof_addons import testing
from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import (
    Dialect,
    ErrorText,
    Mock,
    ModelReply,
    ModelRequest,
    StreamEvent,
    ToolResult,
    Usage,
    WireReply,
)
from flowproof_addons.dialects.openai_chat import OpenAIChat
from flowproof_addons.dialects.raw import Path
from flowproof_addons.testing import Check, Sample
from flowproof_addons.trace.model import JsonValue, Request


def test_a_dialect_of_ours_keeps_every_rule(kit: tuple[Dialect, list[Sample]]) -> None:
    testing.check(*kit)


class Shouting(OpenAIChat):
    name = "OpenAI Chat"


class OddVariable(OpenAIChat):
    key_variables = ("api-key",)


class Greedy(OpenAIChat):
    def claims(self, method: str, path: str) -> bool:
        return method == "POST"


class NoPrefix(OpenAIChat):
    def claims(self, method: str, path: str) -> bool:
        return method == "POST" and path == "/v1/chat/completions"


class AnyVerb(OpenAIChat):
    def claims(self, method: str, path: str) -> bool:
        return path.endswith("/chat/completions")


class Keyless(OpenAIChat):
    def authorize(self, key: str) -> Mapping[str, str]:
        return {"authorization": "Bearer"}


class UpperCase(OpenAIChat):
    def authorize(self, key: str) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"}


class Lost(OpenAIChat):
    def read_request(self, request: Request) -> ModelRequest:
        asked = super().read_request(request)
        return replace(asked, results=tuple(replace(r, path=("messages", 99, "content")) for r in asked.results))


class LoneGroup(OpenAIChat):
    def read_request(self, request: Request) -> ModelRequest:
        return replace(super().read_request(request), parallel=((("messages", 4),),))


class WideGroup(OpenAIChat):
    def read_request(self, request: Request) -> ModelRequest:
        return replace(super().read_request(request), parallel=((("messages", 3), ("messages", 4)),))


class Fragile(OpenAIChat):
    def wants_stream(self, request: Request) -> bool:
        value = raw.of_body(request.body)["stream"]
        return value is True


class Optimist(OpenAIChat):
    def read_reply(self, body: JsonValue) -> ModelReply:
        read = super().read_reply(body)
        return replace(read, text=read.text or "fine", usage=Usage())


class Forgetful(OpenAIChat):
    def synthesise(self, body: JsonValue, request: Request) -> Sequence[StreamEvent]:
        return super().synthesise({**raw.as_object(body), "service_tier": None}, request)


class Reader(OpenAIChat):
    """Right on its own streams, wrong on real ones."""

    def assemble(self, events: Sequence[StreamEvent]) -> JsonValue:
        return None if any("obfuscation" in event.data for event in events) else super().assemble(events)


class Hopeful(OpenAIChat):
    def assemble(self, events: Sequence[StreamEvent]) -> JsonValue:
        return super().assemble(events) if events else {}


class Mutating(OpenAIChat):
    def substitute(self, body: JsonValue, results: Mapping[Path, Mock]) -> JsonValue:
        new = super().substitute(body, results)
        assert isinstance(body, dict)
        body["model"] = "touched"
        return new


class Lazy(OpenAIChat):
    def substitute(self, body: JsonValue, results: Mapping[Path, Mock]) -> JsonValue:
        return body


class Careless(OpenAIChat):
    def substitute(self, body: JsonValue, results: Mapping[Path, Mock]) -> JsonValue:
        return super().substitute(
            body, dict.fromkeys([("messages", 4, "content"), ("messages", 5, "content")], *results.values())
        )


class Stubborn(OpenAIChat):
    def read_request(self, request: Request) -> ModelRequest:
        asked = super().read_request(request)
        return replace(asked, results=tuple(replace(result, is_error=True) for result in asked.results))


class Retried(OpenAIChat):
    def error(self, text: ErrorText) -> WireReply:
        return replace(super().error(text), status=409)


class Broken(OpenAIChat):
    def error(self, text: ErrorText) -> WireReply:
        return replace(super().error(text), status=500)


class Silent(OpenAIChat):
    def error(self, text: ErrorText) -> WireReply:
        return super().error(ErrorText("no"))


class Bare(OpenAIChat):
    def error(self, text: ErrorText) -> WireReply:
        return replace(super().error(text), headers={"content-type": "application/json"})


class Untyped(OpenAIChat):
    def error(self, text: ErrorText) -> WireReply:
        return replace(super().error(text), headers={"x-should-retry": "false"})


@pytest.mark.parametrize(
    ("broken", "rule", "words"),
    [
        (Shouting(), testing.has_a_name, "lower-case words"),
        (OddVariable(), testing.has_a_name, "environment variable"),
        (Greedy(), testing.claims_its_turns_only, "/ is claimed"),
        (NoPrefix(), testing.claims_its_turns_only, "behind a prefix"),
        (AnyVerb(), testing.claims_its_turns_only, "GET"),
        (Keyless(), testing.carries_the_key, "carries the key"),
        (UpperCase(), testing.carries_the_key, "lower-case"),
        (Lost(), testing.reads_what_is_there, "leads nowhere"),
        (LoneGroup(), testing.reads_what_is_there, "group of one"),
        (WideGroup(), testing.reads_what_is_there, "no tool result"),
        (Fragile(), testing.survives_junk, "wants_stream raises"),
        (Optimist(), testing.reads_an_error_as_nothing, "an error body reads as"),
        (Forgetful(), testing.streams_without_loss, "is not the reply"),
        (Reader(), testing.assembles_real_streams, "does not add up"),
        (Hopeful(), testing.assembles_real_streams, "without events"),
        (Mutating(), testing.substitutes_results, "mutates"),
        (Lazy(), testing.substitutes_results, "reads"),
        (Careless(), testing.substitutes_results, "nobody asked for"),
        (Stubborn(), testing.substitutes_results, "still an error"),
        (Retried(), testing.refuses_without_retry, "retried"),
        (Broken(), testing.refuses_without_retry, "retried"),
        (Silent(), testing.refuses_without_retry, "is the message"),
        (Bare(), testing.refuses_without_retry, "x-should-retry"),
        (Untyped(), testing.refuses_without_retry, "JSON"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, OpenAIChat) else "",
)
def test_a_dialect_that_breaks_a_rule_is_told_which(
    broken: Dialect, rule: Check, words: str, load: Callable[[str, str], tuple[Dialect, Sample]]
) -> None:
    _, sample = load("openai-chat", "parallel")
    with pytest.raises(AssertionError, match=words):
        rule(broken, sample)


def test_every_rule_has_a_dialect_that_breaks_it() -> None:
    """So a rule added to the kit without a guilty dialect here is noticed."""
    (mark,) = test_a_dialect_that_breaks_a_rule_is_told_which.pytestmark  # type: ignore[attr-defined]  # pytest's own
    assert {rule for _, rule, _ in mark.args[1]} == set(testing.CHECKS)


class Deaf(OpenAIChat):
    def read_request(self, request: Request) -> ModelRequest:
        return replace(super().read_request(request), results=tuple[ToolResult]())


class Blind(OpenAIChat):
    def read_reply(self, body: JsonValue) -> ModelReply:
        return replace(super().read_reply(body), calls=())


@pytest.mark.parametrize(("broken", "words"), [(Deaf(), "no tool result found"), (Blind(), "no tool call found")])
def test_samples_that_show_nothing_prove_nothing(
    broken: Dialect, words: str, load: Callable[[str, str], tuple[Dialect, Sample]]
) -> None:
    with pytest.raises(AssertionError, match=words):
        testing.check(broken, [load("openai-chat", "parallel")[1]])
