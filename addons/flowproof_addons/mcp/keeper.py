"""Stands between the boundary and a real server: should the boundary be killed, the server goes with it.

    python -I -S keeper.py DESCRIPTOR COMMAND…

DESCRIPTOR is a pipe that nobody writes to; its end means that the boundary is gone. Run as the leader of its own
process group, by path, so that it imports nothing of ours.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys

_NOT_FOUND = 127
_BY_SIGNAL = 128
_OURS = (signal.SIGTERM, signal.SIGINT)


def main(descriptor: int, command: list[str]) -> int:
    """Run the command in our group; its exit code, 128 and more if a signal ended it."""
    os.set_inheritable(descriptor, False)
    for number in _OURS:
        signal.signal(number, signal.SIG_IGN)  # the server decides about them, we only last as long as it does
    try:
        server = os.posix_spawnp(command[0], command, os.environ, setsigdef=_OURS)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        return _NOT_FOUND
    for stream in (0, 1):
        os.close(stream)  # the pipes are the server's; they must end with it
    _thread.start_new_thread(_watch, (descriptor,))
    code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
    return code if code >= 0 else _BY_SIGNAL - code


def _watch(descriptor: int) -> None:
    os.read(descriptor, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    os._exit(main(int(sys.argv[1]), sys.argv[2:]))
