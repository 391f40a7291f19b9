"""Changes as people read them."""

from __future__ import annotations

from flowproof_runner.report.style import Style
from flowproof_runner.trajectory.change import Change
from flowproof_runner.trajectory.render import Item, grouped, markdown, text

TOLD = Change("prompt", "system text", "flights", "trains")
DOES = Change("arguments", "book: id", '"KQ311"', '"`x`\u001b[2J"', "book")


def test_what_the_agent_does_comes_first_and_control_characters_are_made_harmless() -> None:
    shown = text([(TOLD, ()), (DOES, ("step 2",))], Style())
    assert "\u001b" not in shown
    assert shown.splitlines()[:3] == ["does differently", "  book: id  [step 2]", '    - "KQ311"']
    assert shown.splitlines()[4:] == ["is told differently", "  system text", "    - flights", "    + trains"]


def test_markdown_fences_what_holds_fences() -> None:
    shown = markdown([(Change("reply", "the reply", "```", None), ())])
    assert "  ````diff\n  - ```\n  ````" in shown


def test_one_drift_in_two_flows_is_one_item_that_names_both() -> None:
    both: dict[str, list[Item]] = {"a.flow.yaml": [(TOLD, ())], "b.flow.yaml": [(TOLD, ()), (DOES, ("step 2",))]}
    assert grouped(both) == [(TOLD, ("a.flow.yaml", "b.flow.yaml")), (DOES, ("step 2", "b.flow.yaml"))]


def test_a_single_flow_is_not_named_at_each_change() -> None:
    assert grouped({"a.flow.yaml": [(TOLD, ())]}) == [(TOLD, ())]
