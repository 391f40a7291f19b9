"""Real stdio servers: started at record only, each in its own process group, gone when their connection is."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flowproof_addons.errors import FlowproofError
from flowproof_addons.mcp import keeper

LINE_LIMIT = 64 * 2**20
"""A message longer than this is an error of the server."""

INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""What a server gets of our environment: what the MCP SDKs pass on, so no credential is recorded by accident."""

_TERM_AFTER_S = 0.05
_KILL_AFTER_S = 0.05
_KEEPER_S = 1.0
_SAMPLE_S = 0.04
_SETTLED = 3
"""Samples without any work, after some."""
_IDLE = 8
"""The same for a server that starts with less work than the system counts."""


_LAST_BYTES = 2000


class ServerStartError(FlowproofError):
    """A real MCP server cannot be started."""


@dataclass(frozen=True, slots=True)
class Server:
    """One running server process."""

    process: asyncio.subprocess.Process
    transport: asyncio.SubprocessTransport
    cwd: str
    stderr: Path
    alive: int
    """Our end of the pipe that tells the keeper whether we live."""

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """Where the agent's lines go."""
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        """Where the server's lines come from."""
        assert self.process.stdout is not None
        return self.process.stdout

    def last_words(self) -> str:
        """Where its stderr is, and the last line in it, for a message on how it went wrong."""
        with self.stderr.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_BYTES))
            said = file.read().decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        return f"its stderr: {self.stderr}" + (f" ends with: {last}" if last else "")

    async def settle(self, within_s: float) -> None:
        """Wait until it has started up: until its tree stops using the processor.

        Nothing is sent to find out: the first request decides the protocol era of a 2026 server.
        """
        deadline, last, still = time.monotonic() + within_s, -1, 0
        while (
            still < (_SETTLED if last > 0 else _IDLE)
            and time.monotonic() < deadline
            and self.process.returncode is None
        ):
            used = _descendants_ticks(self.process.pid)
            if used is None:
                return
            still = still + 1 if used == last else 0
            last = used
            await asyncio.sleep(_SAMPLE_S)

    async def stop(self) -> int:
        """End it and all of its group within 0.2 s; its exit code."""
        self.stdin.close()
        if not await self._gone(_TERM_AFTER_S):
            with suppress(ProcessLookupError):
                self.process.terminate()  # the keeper passes it on
            await self._gone(_KILL_AFTER_S)
        os.close(self.alive)  # the keeper kills what is left
        if not await self._gone(_KEEPER_S):
            with suppress(ProcessLookupError):
                self.process.kill()
        status = await self.process.wait()
        self.transport.close()  # else its pipes stay open until the event loop is gone, and complain then
        return status

    async def _gone(self, within_s: float) -> bool:
        try:
            await asyncio.wait_for(self.process.wait(), within_s)
        except TimeoutError:
            return False
        return True


async def start(command: Sequence[str], env: Mapping[str, str], cwd: str, stderr: Path) -> Server:
    """Start a server. Raises ServerStartError if there is no such program."""
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ} | dict(env)
    theirs, ours = os.pipe()
    try:
        if _missing(command[0], environment, cwd):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        with stderr.open("ab") as log:
            loop = asyncio.get_running_loop()
            transport, protocol = await loop.subprocess_exec(
                lambda: asyncio.subprocess.SubprocessStreamProtocol(LINE_LIMIT, loop),
                *(sys.executable, "-I", "-S", keeper.__file__, str(theirs), *command),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                cwd=cwd,
                env=environment,
                start_new_session=True,
                pass_fds=(theirs,),
            )
    except BaseException as error:
        os.close(ours)  # its keeper, should there be one already, ends with it
        if not isinstance(error, OSError):
            raise
        raise ServerStartError(
            f"mcp: the server {' '.join(command)!r} cannot be started in {cwd}: {error.strerror or error}"
        ) from error
    finally:
        os.close(theirs)
    process = asyncio.subprocess.Process(transport, protocol, loop)
    return Server(process, transport, cwd, stderr, ours)


def _missing(program: str, environment: Mapping[str, str], cwd: str) -> bool:
    """True when there is no such program; a path with a slash is relative to the server's own directory."""
    if os.path.dirname(program):
        return not os.access(Path(cwd) / program, os.X_OK)
    return shutil.which(program, path=environment.get("PATH", os.defpath)) is None


def _descendants_ticks(pid: int) -> int | None:
    """Processor time of all below a process, in clock ticks; None where the system does not say."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return sum(_ticks(int(child)) + (_descendants_ticks(int(child)) or 0) for child in children)
    except OSError:
        return None


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
