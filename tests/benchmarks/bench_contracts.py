"""How long judging takes: 10,000 events by 50 expectations, all mutants of a 13-call run, one run of 3 calls.

uv run python tests/benchmarks/bench_contracts.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.file import load
from flowproof_runner.contract.init import init
from flowproof_runner.contract.run import run
from flowproof_runner.evidence.model import (
    MODEL,
    AnyEvent,
    Concluded,
    Confirmed,
    Decided,
    Dispatched,
    Evidence,
    Returned,
    Told,
)
from flowproof_runner.expectations.contract.evaluate import judge
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.mutate.score import Subject, study

RECORDS = 816  # four calls of three events for each record, with the rest: 10,000 events
CLAIMS = Path(__file__).parents[2] / "examples" / "contracts" / "claims"

EXPECT: dict[str, object] = {
    "calls": [
        "policy at least once",
        "list at least once",
        "wipe never",
        "drop never where id exists",
        "at most 5000 calls",
        "check as many as out.checked",
        "pay as many as out.paid",
        "mail required when out.paid is not empty",
        "check at most 2000 times",
        "pay at most 2000 times",
        "mail at most 2000 times",
    ],
    "order": [
        "policy before check, pay, mail",
        "list before check, pay, mail",
        "check before pay per id",
        "pay before every mail per id",
        "policy then list then check then pay then mail",
    ],
    "args": [
        "check distinct id",
        "pay distinct id",
        "mail distinct id",
        "check where id in list.records[].id",
        "pay where id in check[result.ok = true].id",
        "pay where amount equals list.records[id = $id].amount",
        "pay where id equals list.records[id = $id and amount < policy.limit].id",
        "mail where to equals list.records[id = $id].to",
        "mail where state equals pay[id = $id].state",
        "pay where amount < policy.limit and amount > 0",
        "mail where to contains x and id matches R",
        {"tool": "pay", "schema": {"type": "object", "required": ["id"], "properties": {"amount": {"minimum": 0}}}},
        {"tool": "mail", "schema": {"type": "object", "required": ["id", "to"]}},
        {"tool": "pay", "where": "amount >= 0", "when": "id exists"},
    ],
    "each": [
        {
            "for": "list.records as r",
            "expect": [
                "exactly 1 of pay, refer where id equals r.id",
                "exactly 1 mail where id equals r.id",
                "exactly 1 check where id equals r.id when r.amount >= 0",
                "at most 1 pay where id equals r.id and amount equals r.amount",
            ],
        },
        {"for": "pay.args.id as p", "expect": ["exactly 1 mail where id equals p"]},
    ],
    "holds": [
        "pay.args.id same set as list.records[].id",
        "all(check.id) same set as check.args.id",
        "count(pay.args.id) equals count(list.records)",
        "max(pay.args.amount) < policy.limit",
    ],
    "confirm": ["pay needs adapter approved with same arguments", "mail needs check approved"],
    "outcome": [
        {
            "status": "completed",
            "where": [
                "out.total equals sum(pay.args.amount)",
                "out.paid same set as pay.args.id",
                "count(out.checked) equals count(check.args.id)",
            ],
        },
        {"schema": {"type": "object", "required": ["total"]}},
    ],
    "budget": {"turns": 10, "duration": "1h"},
}


def contract() -> Contract:
    """At least 50 expectations of every kind, bodies of `for:` counted."""
    found, complaints = compile_expect(Expect.model_validate(EXPECT), ("policy", "list"))
    assert not complaints, complaints
    return found


def evidence(*, model: bool = False) -> Evidence:
    """A long run that keeps the contract, on the adapter's lane or the model's."""
    events: list[AnyEvent] = []
    known: list[str] = []

    def use(tool: str, arguments: JsonValue, result: JsonValue) -> None:
        id, seq, lane = f"c{len(known)}", len(events), MODEL if model else "adapter"
        events.append(
            Decided(
                seq=seq,
                lane=lane,
                call=id,
                tool=tool,
                arguments=arguments,
                arguments_text="",
                thread="",
                group=seq,
                known=tuple(known) if model else (),
            )
        )
        if model:
            events.append(Told(seq=seq + 1, lane=lane, call=id, tool=tool, result=result))
        else:
            events.append(Dispatched(seq=seq + 1, lane=lane, call=id, tool=tool, arguments=arguments))
            events.append(Returned(seq=seq + 2, lane=lane, call=id, tool=tool, result=result))
        known.append(id)

    records: list[JsonValue] = [{"id": f"R{n}", "amount": n + 1, "to": f"x{n}"} for n in range(RECORDS)]
    use("policy", {}, {"limit": 10_000})
    use("list", {}, {"records": records})
    for n in range(RECORDS):
        use("check", {"id": f"R{n}"}, {"id": f"R{n}", "ok": True, "approved": True})
    for n in range(RECORDS):
        pay: JsonValue = {"id": f"R{n}", "amount": n + 1}
        events.append(Confirmed(seq=len(events), lane="adapter", call=None, tool="pay", arguments=pay, granted=True))
        use("pay", pay, {"state": "paid"})
        use("mail", {"id": f"R{n}", "to": f"x{n}", "state": "paid"}, {})
        use("note", {"id": f"R{n}"}, {})
    ids: list[JsonValue] = [f"R{n}" for n in range(RECORDS)]
    output: JsonValue = {"total": sum(range(1, RECORDS + 1)), "paid": ids, "checked": ids}
    events.append(Concluded(seq=len(events), lane="adapter", status="completed", output=output))
    return Evidence(tuple(events), frozenset({"adapter"}), duration_ms=1000.0)


def timed(what: Callable[[], object], rounds: int = 3, clock: Callable[[], float] = time.process_time) -> float:
    """The best of some rounds, in seconds of this process: what else the machine does does not count."""
    best = float("inf")
    for _ in range(rounds):
        started = clock()
        what()
        best = min(best, clock() - started)
    return best


def main() -> None:
    """Print each measurement beside its bound."""
    built = contract()
    for name, run_of in (("adapter", evidence()), ("model", evidence(model=True))):
        judgement = judge(built, run_of)
        assert not judgement.findings, judgement.findings[:3]
        took = timed(lambda of=run_of: judge(built, of))  # type: ignore[misc]  # bound now
        print(f"{len(run_of.events)} events x 50 expectations, {name} lane: {took:.3f} s (bound 1)")
    file = load(CLAIMS / "contract.yml")
    ran = run(file, (sys.executable, str(CLAIMS / "agent.py")))
    subject = Subject.of(file.contract, ran.evidence)
    corpus = study(subject, ran.evidence, file.reads)
    took = timed(lambda: study(subject, ran.evidence, file.reads))
    print(f"{corpus.score.scorable} mutants of a 13-call run, control and no-outcome included: {took:.3f} s (bound 2)")
    with tempfile.TemporaryDirectory() as folder:
        small, adapter = init(Path(folder) / "small.yml")
        loaded = load(small)
        took = timed(lambda: run(loaded, (sys.executable, str(adapter))), 5, time.perf_counter)
        print(f"one run of 2 calls, prompt to verdict: {took:.3f} s (bound 0.4)")


if __name__ == "__main__":
    main()
