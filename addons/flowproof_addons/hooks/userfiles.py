"""Users' addon files, loaded into a mitmproxy that is running."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from mitmproxy import ctx, hooks

from flowproof_addons import userfile
from flowproof_addons.userfile import AddonFileError

_loaded: dict[ModuleType, Path] = {}


async def load(path: Path) -> None:
    """Run the file, and let its hooks in behind ours. Once; raises AddonFileError if it cannot be."""
    module = userfile.load(path)
    if module in _loaded:
        return
    if not hasattr(module, "name"):
        module.name = str(path)  # type: ignore[attr-defined]  # by which mitmproxy tells addons apart
    try:
        ctx.master.addons.add(module)
        for event in (hooks.ConfigureHook(set(ctx.options.keys())), hooks.RunningHook()):
            await ctx.master.addons.invoke_addon(module, event)
    except Exception as error:  # whatever a user's hooks do when they are started
        raise AddonFileError(f"addon {str(path)!r} cannot be started: {type(error).__name__}: {error}") from error
    _loaded[module] = path
