"""Arguments and options that several commands take, in the same words everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Paths = Annotated[list[Path], typer.Argument(metavar="PATH", help="Specs, and folders of specs (*.flow.yaml).")]
Jobs = Annotated[str, typer.Option("--jobs", "-j", metavar="N", help="Flows at a time: a number, or auto.")]
Keyword = Annotated[
    str | None,
    typer.Option("-k", metavar="EXPR", help="Only flows whose path or name fits: 'booking and not slow'."),
]
FailFast = Annotated[bool, typer.Option("--fail-fast", help="Begin no flow after one has failed.")]
Junit = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML to this file.")]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as one HTML page to this file.")]
Json = Annotated[bool, typer.Option("--json", help="Only the report, as JSON, on stdout.")]
Web = Annotated[bool, typer.Option("--web", help="Run in mitmweb, live, and leave it open.")]
WebPort = Annotated[int, typer.Option("--web-port", metavar="N", help="Of mitmweb; default: any free one.")]
