"""A client's profile as `check --explain` shows it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from flowproof_runner.spec.clients.profile import client_of
from flowproof_runner.spec.file import LoadedSpec


def of_client(spec: LoadedSpec) -> Iterator[str]:
    """What the profile a spec names does beside its pins, in lines; none where it names none."""
    client = client_of(spec.spec)
    if client is None:
        return
    profile = client.profile
    yield f"  client {client.name}: {profile.about}"
    yield f"    home: {spec.spec.agent.home.mode if spec.spec.agent.home else profile.home}"
    if profile.arguments:
        yield f"    arguments added behind {' or '.join(profile.programs)}: {shlex.join(profile.arguments)}"
    yield from (f"    set: {name}={value}" for name, value in profile.env.items())
    yield from (f"    written into the isolated home: {path}" for path in profile.files)
    yield from (f"    cannot: {limit}" for limit in profile.limits)
