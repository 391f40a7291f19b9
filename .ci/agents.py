"""A page for each third-party agent, made from its spec and its client's profile while the documentation is built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from flowproof_runner.spec.clients.profile import Profile, named

SPECS = Path(__file__).parents[1] / "specs" / "agents"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Called by mkdocs: give the pages their place in the navigation."""
    assert config.nav is not None
    config.nav.insert(3, {"Third-party agents": ["agents.md", *(f"agents/{name}.md" for name in _names())]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: add the pages."""
    for name in _names():
        text = (SPECS / f"{name}.flow.yaml").read_text()
        files.append(File.generated(config, f"agents/{name}.md", content="\n".join(page(name, text))))
    return files


def _names() -> list[str]:
    return sorted(spec.name.removesuffix(".flow.yaml") for spec in SPECS.glob("*.flow.yaml"))


def page(name: str, spec: str) -> Iterator[str]:
    """What is known of one agent, as Markdown."""
    client = yaml.safe_load(spec).get("client")
    profile = named(client).profile if client else None
    yield from (f"# {name}", "", f"{profile.about}." if profile else "Needs no profile.", "")
    yield "What the test records, replays twice in fresh homes, and sees fail once when the files or the prompt change:"
    yield from ("", "```yaml", spec.rstrip(), "```", "")
    if profile is not None:
        yield from _launch(profile)
        yield from _listed("What may differ between two runs", [f"`{pin.label}`: {pin.why}" for pin in profile.pins])
        yield from _listed("What does not work, or not as one would think", profile.limits)
    yield "All of them together, and how to try one: [third-party agents](../agents.md)."


def _launch(profile: Profile) -> Iterator[str]:
    """How the profile has it started."""
    set_for_it = [f"`{key}={value}`" for key, value in profile.env.items()]
    added = [f"behind its command: `{' '.join(profile.arguments)}`"] if profile.arguments else []
    yield from _listed("How it is started", [f"home: {profile.home}", *added, *set_for_it])
    for path, text in profile.files.items():
        yield from (f"Written to `~/{path}`:", "", "```text", text.rstrip(), "```", "")


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    lines = [f"- {item}" for item in items]
    if lines:
        yield from (f"## {title}", "", *lines, "")
