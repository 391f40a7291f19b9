"""Put first on an agent's PYTHONPATH: Python's clocks as `agent.clock` says. Stands alone; any Python 3 runs it."""

import os
import sys


def _install(at: float, moves: bool, announced: str) -> None:
    import ctypes
    import datetime
    import gc
    import time

    monotonic, started = time.monotonic, time.monotonic()

    def now() -> float:
        return at + (monotonic() - started) if moves else at

    gmtime, localtime, ctime, asctime, strftime = time.gmtime, time.localtime, time.ctime, time.asctime, time.strftime
    replaced = {
        "time": now,
        "time_ns": lambda: int(now() * 1_000_000_000),
        "gmtime": lambda seconds=None: gmtime(now() if seconds is None else seconds),
        "localtime": lambda seconds=None: localtime(now() if seconds is None else seconds),
        "ctime": lambda seconds=None: ctime(now() if seconds is None else seconds),
        "asctime": lambda t=None: asctime(localtime(now()) if t is None else t),
        "strftime": lambda form, t=None: strftime(form, localtime(now()) if t is None else t),
    }
    for name, function in replaced.items():
        setattr(time, name, function)

    # The type stays the one that C code and `is` comparisons know; only its methods that read the clock change.
    members = gc.get_referents(datetime.datetime.__dict__)[0]
    utc = datetime.timezone.utc  # noqa: UP017 - Python 3.10 and older

    def local(cls: "type[datetime.datetime]", tz: "datetime.tzinfo | None" = None) -> datetime.datetime:
        return cls.fromtimestamp(now(), tz)

    def universal(cls: "type[datetime.datetime]") -> datetime.datetime:
        return cls.fromtimestamp(now(), utc).replace(tzinfo=None)

    members.update(now=classmethod(local), utcnow=classmethod(universal))
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))

    with open(os.path.join(announced, f"python-{os.getpid()}"), "w"):
        pass


def _hand_on() -> None:
    """Load the sitecustomize that this one stands before, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if ours is not None:
            sys.modules["sitecustomize"] = ours


if "FLOWPROOF_CLOCK" in os.environ:
    _install(
        float(os.environ["FLOWPROOF_CLOCK"]),
        os.environ.get("FLOWPROOF_CLOCK_MOVES") == "1",
        os.environ["FLOWPROOF_CLOCK_ANNOUNCED"],
    )
_hand_on()
