"""The dialect of an in-house model API: `POST /answer`, streams as lines of JSON. Named in suite.yaml."""

from collections.abc import Mapping, Sequence
from typing import Literal

from flowproof_addons.dialects import base, raw, refusal, told
from flowproof_addons.dialects.registry import register
from flowproof_addons.trace.model import JsonValue, Request

type Results = Mapping[tuple[str | int, ...], base.Mock]


class Inhouse:
    name = "inhouse"
    framing: Literal["sse", "ndjson"] = "ndjson"
    base_url_variables: tuple[str, ...] = ("INHOUSE_URL",)
    key_variables: tuple[str, ...] = ("INHOUSE_TOKEN",)

    def claims(self, method: str, path: str) -> bool:
        return method == "POST" and path.endswith("/answer")

    def authorize(self, key: str) -> Mapping[str, str]:
        return {"x-token": key}

    def wants_stream(self, request: Request) -> bool:
        return raw.of_body(request.body).get("live") is True

    def read_request(self, request: Request) -> base.ModelRequest:
        body = raw.of_body(request.body)
        log = [raw.as_object(item) for item in raw.as_list(body.get("log"))]
        names = {call.id: call.name for item in log for call in _calls(item)}
        results = [(i, item, raw.as_text(item.get("ref"))) for i, item in enumerate(log) if "gave" in item]
        return base.ModelRequest(
            raw.as_text(body.get("engine")),
            raw.as_text(body.get("rules")),
            tuple(raw.as_text(item.get("who")) for item in log),
            tuple(map(raw.as_text, raw.as_list(body.get("can")))),
            tuple(
                base.ToolResult(ref, names.get(ref, ""), item["gave"], item.get("failed") is True, ("log", i, "gave"))
                for i, item, ref in results
            ),
            told.groups(("log", i) for i, _, _ in results),
        )

    def read_reply(self, body: JsonValue) -> base.ModelReply:
        usage = base.Usage(raw.as_int(raw.at(body, "cost", "in")), raw.as_int(raw.at(body, "cost", "out")))
        say, model, id_, end = (raw.as_text(raw.at(body, key)) for key in ("say", "engine", "id", "end"))
        return base.ModelReply(say or None, _calls(body), usage, model, id_, end or None)

    def assemble(self, events: Sequence[base.StreamEvent]) -> JsonValue:
        whole: dict[str, JsonValue] = {}
        for key, value in (pair for event in events for pair in raw.as_object(raw.arguments(event.data)).items()):
            whole[key] = raw.as_text(whole.get("say")) + value if key == "say" and isinstance(value, str) else value
        return whole or None

    def synthesise(self, body: JsonValue, request: Request) -> Sequence[base.StreamEvent]:
        return [base.StreamEvent(raw.compact({key: value})) for key, value in raw.as_object(body).items()]

    def substitute(self, body: JsonValue, results: Results) -> JsonValue:
        for path, mock in results.items():
            body = raw.replaced(raw.replaced(body, path, mock.content), (*path[:-1], "failed"), mock.is_error)
        return body

    def error(self, text: base.ErrorText) -> base.WireReply:
        return refusal.reply(400, {"problem": text.message})


def _calls(said: JsonValue) -> tuple[base.ToolCall, ...]:
    calls = raw.objects(raw.at(said, "run"))
    texts = [[raw.as_text(call.get(key)) for key in ("ref", "tool")] for call in calls]
    given = [call.get("with") for call in calls]
    return tuple(base.ToolCall(ref, tool, w, raw.compact(w)) for (ref, tool), w in zip(texts, given, strict=True))


register(Inhouse())
