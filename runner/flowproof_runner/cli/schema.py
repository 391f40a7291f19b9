"""`flowproof schema`: JSON Schemas for editors and programs."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class Kind(StrEnum):
    """What a schema is wanted of."""

    SPEC = "spec"
    REPORT = "report"


@app.command()
def schema(
    kind: Annotated[Kind, typer.Argument(help="spec: *.flow.yaml; report: what --json prints.")] = Kind.SPEC,
) -> None:
    """Print a JSON Schema.

    Editors complete specs with it: save it, and begin a spec with this line:

    \b
    # yaml-language-server: $schema=flowproof.schema.json

    \b
    flowproof schema > flowproof.schema.json
    """
    match kind:
        case Kind.SPEC:
            from flowproof_runner.spec import schema as spec

            print(json.dumps(spec.schema(), indent=2))
        case Kind.REPORT:
            from flowproof_runner.report import json as report

            print(json.dumps(report.schema(), indent=2))
