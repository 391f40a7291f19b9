"""Stands between the boundary and a real server: should the boundary be killed, the server goes with it.

    python -I -S keeper.py DESCRIPTOR COMMAND…

DESCRIPTOR is a pipe that nobody writes to: its end means that the boundary is gone, or has had enough of the server.
The server leads a process group of its own. Run by path, so that it imports nothing of ours.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time

_NOT_FOUND = 127
_BY_SIGNAL = 128
_OURS = (signal.SIGTERM, signal.SIGINT)
_LINGER_S = 0.05


def main(descriptor: int, command: list[str]) -> int:
    """Run the command; its exit code, 128 and more if a signal ended it."""
    os.set_inheritable(descriptor, False)
    try:
        server = os.posix_spawnp(command[0], command, os.environ, setpgroup=0, setsigdef=_OURS)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        return _NOT_FOUND
    for stream in (0, 1):
        os.close(stream)  # the pipes are the server's; they must end with it
    for number in _OURS:
        signal.signal(number, lambda number, frame: _signal(server, number))
    _thread.start_new_thread(_watch, (descriptor, server))
    code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
    _signal(server, signal.SIGKILL)
    until = time.monotonic() + _LINGER_S
    while _signal(server, 0) and time.monotonic() < until:
        time.sleep(0.001)
    return code if code >= 0 else _BY_SIGNAL - code


def _watch(descriptor: int, server: int) -> None:
    os.read(descriptor, 1)
    _signal(server, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """False when nobody is left in the group."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS says so of a group of zombies
        return False
    return True


if __name__ == "__main__":
    os._exit(main(int(sys.argv[1]), sys.argv[2:]))
