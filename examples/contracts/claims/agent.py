"""Decides the pending travel claims of one team: pays what the rules allow, refers the rest to a person.

Speaks the adapter protocol: one JSON object a line on stdout, answers on stdin.
The options change the order of work, never the decisions: every one of them is a correct agent.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from typing import Any

Claim = dict[str, Any]


def main() -> None:
    """Read the task, work through it, report."""
    options = _options()
    desk = Desk()
    task = desk.receive()["input"]
    status, report = decide(desk, task.get("data", {}), options)
    desk.send(type="final", status=status, output=report)


class Desk:
    """The other end of stdin and stdout."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def send(self, **message: Any) -> None:
        """Write one message."""
        print(json.dumps(message), flush=True)

    def receive(self) -> Any:
        """Read one message."""
        return json.loads(sys.stdin.readline())

    def call(self, tool: str, **arguments: Any) -> Any:
        """Use a tool and wait for its result."""
        self.send(type="tool_call", callId=f"call-{next(self._numbers)}", tool=tool, arguments=arguments)
        return self.receive()["result"]

    def approved(self, tool: str, **arguments: Any) -> None:
        """Attest that a person agreed to exactly this call."""
        self.send(type="confirmation", tool=tool, confirmed=True, source="team lead", arguments=arguments)


def decide(desk: Desk, data: dict[str, Any], options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Work through every pending claim of the team."""
    team = data["team"]
    rules = desk.call("rules.read", team=team)
    claims: list[Claim] = desk.call("claims.list", team=team)["claims"]
    if options.reread_rules:
        rules = desk.call("rules.read", team=team)
    vouchers: dict[str, Any] = {}
    if options.vouchers_first:
        for claim in claims:
            _voucher(desk, claim, rules, vouchers)
    paid: list[Claim] = []
    referred: list[Claim] = []
    told: list[str] = []
    for claim in claims:
        reason = _objection(claim, rules, _voucher(desk, claim, rules, vouchers))
        if reason is None:
            desk.call("claims.pay", claim=claim["id"], amount=claim["amount"])
            paid.append({"claim": claim["id"], "amount": claim["amount"]})
        else:
            referral = {"claim": claim["id"], "to": rules["referee"], "reason": reason}
            desk.approved("claims.refer", **referral)
            desk.call("claims.refer", **referral)
            referred.append(referral)
        if options.tell_at_once:
            _tell(desk, claim, "paid" if reason is None else "referred", told)
    for claim in claims:
        if claim["id"] not in told:
            _tell(desk, claim, "paid" if claim["id"] in {p["claim"] for p in paid} else "referred", told)
    return "completed", {
        "team": team,
        "decided": len(claims),
        "paid": paid,
        "referred": referred,
        "vouchers": list(vouchers),
        "told": told,
        "total": sum(payment["amount"] for payment in paid),
    }


def _voucher(desk: Desk, claim: Claim, rules: Any, vouchers: dict[str, Any]) -> Any:
    """The claim's voucher if the rules ask for one; it lists what was bought, so it is read only then, and once."""
    if claim["amount"] < rules["voucher_from"]:
        return None
    if claim["id"] not in vouchers:
        vouchers[claim["id"]] = desk.call("claims.voucher", claim=claim["id"])
    return vouchers[claim["id"]]


def _objection(claim: Claim, rules: Any, voucher: Any) -> str | None:
    """Why a claim is not paid without a person, None if it is."""
    if claim["amount"] >= rules["refer_from"]:
        return "over_limit"
    if voucher is not None and not voucher["genuine"]:
        return "voucher_rejected"
    return None


def _tell(desk: Desk, claim: Claim, decision: str, told: list[str]) -> None:
    desk.call("mail.claimant", claim=claim["id"], address=claim["address"], decision=decision)
    told.append(claim["id"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vouchers-first", action="store_true", help="Read all vouchers before deciding.")
    parser.add_argument("--tell-at-once", action="store_true", help="Tell each claimant right after the decision.")
    parser.add_argument("--reread-rules", action="store_true", help="Read the rules again after the list.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
