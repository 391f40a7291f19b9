"""A user's addon file: Python that registers dialects, or holds mitmproxy hooks, or both."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from flowproof_addons.errors import FlowproofError


class AddonFileError(FlowproofError):
    """An addon file that cannot be loaded."""


def load(path: Path) -> ModuleType:
    """The module of a file, which is run once a process. What lies beside it can be imported by it.

    Raises AddonFileError with whatever the file raised.
    """
    path = path.resolve()
    name = f"flowproof_addon_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AddonFileError(f"addon {str(path)!r} is no Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a user's file does
        del sys.modules[name]
        raise AddonFileError(f"addon {str(path)!r} cannot be loaded: {_told(error, path)}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def _told(error: Exception, path: Path) -> str:
    """The error, with the line of the file where it came up."""
    if isinstance(error, FlowproofError):
        return str(error)
    lines, frame = list[int](), error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == str(path):
            lines.append(frame.tb_lineno)
        frame = frame.tb_next
    where = f"line {lines[-1]}: " if lines else ""
    return f"{where}{type(error).__name__}: {error}"
