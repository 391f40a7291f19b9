"""Reference pages made from the code while the documentation is built: every key, every option, never behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import typer
from markdown.extensions.toc import slugify
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.core import TyperCommand, TyperGroup

from flowproof_runner.cli import app
from flowproof_runner.report import json as report
from flowproof_runner.spec import schema as spec

_RECURSIVE = ("JsonValue",)
"""Kinds whose forms hold themselves."""

type Schema = Mapping[str, Any]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: add the pages."""
    pages = {
        "reference/commands.md": commands(),
        "reference/spec-keys.md": keys(
            "Every key of a spec",
            "Made from the grammar itself; what the keys mean together is in the"
            " [spec reference](../spec-reference.md). `flowproof schema` prints the same for editors.",
            spec.schema(),
        ),
        "reference/report-keys.md": keys(
            "Every key of a report",
            "What `--json` prints and `report.json` holds: see [reports](../reports.md)."
            " `flowproof schema report` prints the same for programs.",
            report.schema(),
        ),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def commands() -> str:
    """Every command with its arguments and options, as Markdown."""
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    lines = [
        "# Every command",
        "",
        "Made from the program itself; what they are for is on [Command line](../cli.md).",
        "",
    ]
    for path, command in _leaves(root, ("flowproof",)):
        context = command.make_context(" ".join(path), [], resilient_parsing=True, terminal_width=80)
        lines += [f"## {' '.join(path)}", "", "```text", *command.get_help(context).splitlines(), "```", ""]
    return "\n".join(lines)


def _leaves(
    command: TyperCommand | TyperGroup, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    if isinstance(command, TyperCommand):
        yield path, command
        return
    context = command.context_class(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert isinstance(inner, TyperCommand | TyperGroup)
        yield from _leaves(inner, (*path, name))


def keys(title: str, intro: str, schema: Schema) -> str:
    """Every key of a JSON Schema, a table for each kind of object, as Markdown."""
    known: Schema = schema.get("$defs", {})
    lines = [f"# {title}", "", intro, "", *_table(schema, known)]
    for name, definition in sorted(known.items()):
        if definition.get("properties"):
            lines += ["", f"## {name}", "", definition.get("description", ""), "", *_table(definition, known)]
    return "\n".join(lines) + "\n"


def _table(schema: Schema, known: Schema) -> list[str]:
    required = schema.get("required", ())
    rows = [
        f"| `{key}` | {_kind(part, known)} | {'required' if key in required else _default(part)} | {_said(part)} |"
        for key, part in schema["properties"].items()
    ]
    return ["| key | is | default | means |", "| --- | --- | --- | --- |", *rows]


def _kind(part: Schema, known: Schema) -> str:
    """What may stand at a key: a link to the table of an object that has one, else in words."""
    match part:
        case {"$ref": ref}:
            return _named(ref.rpartition("/")[2], known)
        case {"const": value}:
            return f"`{value}`"
        case {"enum": values}:
            return ", ".join(f"`{value}`" for value in values)
        case {"anyOf": forms} | {"oneOf": forms}:
            return ", or ".join(dict.fromkeys(_kind(form, known) for form in forms))
        case {"type": "array"}:
            return f"list of {_kind(part.get('items', {}), known)}"
        case {"type": "object", "additionalProperties": {} as inner} if inner:
            return f"mapping to {_kind(inner, known)}"
        case {"type": "object"}:
            return "mapping"
        case {"type": ["string", *_]}:
            return "text"
        case {"type": str(name)}:
            return {"string": "text", "boolean": "true or false", "integer": "whole number"}.get(name, name)
    return "anything"


def _named(name: str, known: Schema) -> str:
    definition = known[name]
    if definition.get("properties"):
        return f"[{name}](#{slugify(name, '-')})"
    return name if name in _RECURSIVE else _kind(definition, known)


def _default(part: Schema) -> str:
    value = part.get("default")
    return "" if value in (None, "", [], {}) or isinstance(value, dict) else f"`{value}`".lower()


def _said(part: Schema) -> str:
    return str(part.get("description", "")).replace("|", "\\|").replace("\n", " ")
