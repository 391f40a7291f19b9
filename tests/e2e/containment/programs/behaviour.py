"""What sockets do, one check each: prints `NAME RESULT`. Contained, every line must be what it is uncontained."""

from __future__ import annotations

import array
import asyncio
import errno
import hashlib
import multiprocessing
import os
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress

CHECKS: dict[str, Callable[[], object]] = {}
LOOPBACK = ("127.0.0.1", 0)


def check(function: Callable[[], object]) -> Callable[[], object]:
    CHECKS[function.__name__] = function
    return function


def name_of(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, type(error).__name__)


def full_backlog() -> tuple[socket.socket, list[socket.socket]]:
    """A listener that answers no more connections: the next connect blocks."""
    listener = socket.socket()
    listener.bind(LOOPBACK)
    listener.listen(0)
    waiting = []
    for _ in range(3):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
        waiting.append(one)
    time.sleep(0.1)
    return listener, waiting


def pair(kind: int = socket.SOCK_STREAM) -> tuple[socket.socket, socket.socket]:
    listener = socket.create_server(LOOPBACK)
    one = socket.create_connection(listener.getsockname())
    other = listener.accept()[0]
    listener.close()
    return one, other


@check
def connect_and_echo() -> bytes:
    one, other = pair()
    one.sendmsg([b"he", b"llo"])
    return other.recv(10)


@check
def connection_refused() -> str:
    with socket.socket() as held:
        held.bind(LOOPBACK)
        try:
            socket.create_connection(held.getsockname(), 2)
        except OSError as error:
            return name_of(error)
    return "connected"


@check
def connect_twice() -> str:
    one, other = pair()
    try:
        one.connect(other.getsockname())
    except OSError as error:
        return name_of(error)
    return "connected"


@check
def connect_nonblocking() -> str:
    with socket.create_server(LOOPBACK) as listener, socket.socket() as one:
        one.setblocking(False)
        number = one.connect_ex(listener.getsockname())
        return errno.errorcode.get(number, "0")


@check
def connect_bad_pointer() -> str:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    with socket.socket() as one:
        libc.connect(one.fileno(), ctypes.c_void_p(8), 16)
        return errno.errorcode[ctypes.get_errno()]


@check
def connect_short_address() -> str:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    with socket.socket() as one:
        libc.connect(one.fileno(), struct.pack("=H", 2), 2)
        return errno.errorcode[ctypes.get_errno()]


@check
def connect_not_a_socket() -> str:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.connect(0, b"\2\0" + bytes(14), 16)
    first = errno.errorcode[ctypes.get_errno()]
    libc.connect(999, b"\2\0" + bytes(14), 16)
    return f"{first} {errno.errorcode[ctypes.get_errno()]}"


@check
def connect_timeout_of_the_socket() -> str:
    listener, _waiting = full_backlog()
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("=qq", 0, 300_000))
        began = time.monotonic()
        number = one.connect_ex(listener.getsockname())
        return f"{errno.errorcode[number]} {0.25 < time.monotonic() - began < 20}"


@check
def connect_timeout_of_python() -> str:
    listener, _waiting = full_backlog()
    began = time.monotonic()
    try:
        socket.create_connection(listener.getsockname(), 0.3)
    except TimeoutError:
        return f"timeout {0.25 < time.monotonic() - began < 20}"
    return "connected"


class Woken(Exception):
    pass


@check
def connect_interrupted() -> str:
    """An alarm whose handler raises ends a blocked connect at once."""
    listener, _waiting = full_backlog()

    def wake(*_: object) -> None:
        raise Woken

    signal.signal(signal.SIGALRM, wake)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    began = time.monotonic()
    try:
        with socket.socket() as one:
            one.connect(listener.getsockname())
    except Woken:
        return f"woken {time.monotonic() - began < 20}"
    return "connected"


@check
def connect_restarted() -> str:
    """With SA_RESTART the call goes on after the handler and ends with its own result."""
    import ctypes

    listener, waiting = full_backlog()
    rung: list[float] = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.2)

    def make_room() -> None:
        time.sleep(0.6)
        for _ in waiting:
            listener.accept()[0].close()

    threading.Thread(target=make_room, daemon=True).start()
    libc = ctypes.CDLL(None, use_errno=True)
    with socket.socket() as one:
        address = struct.pack("=H", 2) + struct.pack("!H4s8x", listener.getsockname()[1], socket.inet_aton("127.0.0.1"))
        result = libc.connect(one.fileno(), address, 16)
        return f"{result} {errno.errorcode.get(ctypes.get_errno(), 0) if result else ''} {len(rung)}"


@check
def killed_while_connecting() -> str:
    listener, _waiting = full_backlog()
    child = os.fork()
    if child == 0:
        with socket.socket() as one:
            one.connect(listener.getsockname())
        os._exit(0)
    time.sleep(0.3)
    began = time.monotonic()
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    return f"{os.waitstatus_to_exitcode(status)} {time.monotonic() - began < 20}"


@check
def sigpipe() -> str:
    """A broken stream ends a program that does not ignore the signal."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        one, other = socket.socketpair()
        other.close()
        with suppress(OSError):
            one.sendmsg([b"x"])
        time.sleep(2)
        os._exit(0)
    return str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


@check
def broken_pipe_without_signal() -> str:
    one, other = socket.socketpair()
    other.close()
    try:
        one.sendmsg([b"x"], [], socket.MSG_NOSIGNAL)
    except OSError as error:
        return name_of(error)
    return "sent"


@check
def stream_longer_than_any_buffer() -> str:
    one, other = pair()
    data = os.urandom(3_000_000)
    received = hashlib.sha256()

    def drain() -> None:
        while part := other.recv(65536):
            received.update(part)

    thread = threading.Thread(target=drain)
    thread.start()
    sent = one.sendmsg([data[:1_000_001], data[1_000_001:]])
    one.close()
    thread.join()
    return f"{sent} {received.hexdigest() == hashlib.sha256(data).hexdigest()}"


@check
def full_buffer_nonblocking() -> str:
    one, _other = socket.socketpair()
    one.setblocking(False)
    try:
        while one.sendmsg([b"x" * 65536]):
            pass
    except OSError as error:
        return name_of(error)
    return "never full"


@check
def full_buffer_blocking() -> str:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    total = 400

    def drain() -> None:
        time.sleep(0.2)
        got = [other.recv(9000) for _ in range(total)]
        results.append(got == [struct.pack("=I", n) * 2000 for n in range(total)])

    results: list[bool] = []
    thread = threading.Thread(target=drain)
    thread.start()
    for number in range(total):
        one.sendmsg([struct.pack("=I", number) * 2000])
    thread.join()
    return str(results)


@check
def send_timeout() -> str:
    one, _other = socket.socketpair()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("=qq", 0, 300_000))
    began = time.monotonic()
    try:
        for _ in range(1000):
            one.sendmsg([b"x" * 65536])
            began = time.monotonic()
    except OSError as error:
        return f"{name_of(error)} {0.2 < time.monotonic() - began < 20}"
    return "never full"


@check
def nothing_is_sent_twice_under_signals() -> str:
    """A signal storm must not repeat a message that has been sent."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    total, hits = 4000, [0]
    signal.signal(signal.SIGALRM, lambda *_: hits.__setitem__(0, hits[0] + 1))
    signal.siginterrupt(signal.SIGALRM, False)
    got: list[int] = []

    def drain() -> None:
        while len(got) < total:
            got.append(struct.unpack("=I", other.recv(100))[0])

    thread = threading.Thread(target=drain, daemon=True)
    thread.start()
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    for number in range(total):
        one.sendmsg([struct.pack("=I", number)])
    signal.setitimer(signal.ITIMER_REAL, 0)
    thread.join(5)
    return f"{got == list(range(total))} {hits[0] > 20}"


@check
def datagram_too_long() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.sendmsg([b"x" * 70_000], [], 0, ("127.0.0.1", 9))
        except OSError as error:
            return name_of(error)
    return "sent"


@check
def datagrams_both_ways() -> list[bytes]:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two,
    ):
        one.bind(LOOPBACK)
        two.bind(LOOPBACK)
        one.sendto(b"to", two.getsockname())
        data, sender = two.recvfrom(10)
        two.sendmsg([b"back"], [(socket.IPPROTO_IP, socket.IP_TOS, struct.pack("=i", 16))], 0, sender)
        one.connect(two.getsockname())
        one.send(b"connected")
        return [data, one.recv(10), two.recv(10)]


@check
def pktinfo_answers_on_loopback() -> bytes:
    """QUIC servers answer from the address that was asked."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two,
    ):
        one.bind(LOOPBACK)
        two.bind(LOOPBACK)
        info = struct.pack("=i4s4s", 0, socket.inet_aton("127.0.0.1"), bytes(4))
        two.sendmsg([b"answer"], [(socket.IPPROTO_IP, 8, info)], 0, one.getsockname())
        return one.recv(10)


@check
def passing_descriptors() -> list[object]:
    one, other = socket.socketpair()
    read, write = os.pipe()
    socket.send_fds(one, [b"fds"], [read, write])
    data, fds, _, _ = socket.recv_fds(other, 10, 4)
    os.write(fds[1], b"through")
    return [data, len(fds), os.read(read, 10)]


@check
def passing_a_bad_descriptor() -> str:
    one, _other = socket.socketpair()
    try:
        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [999]))])
    except OSError as error:
        return name_of(error)
    return "sent"


def unix_echo(address: str | bytes, named: str | bytes | None = None) -> list[object]:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as one:
        listener.bind(address)
        listener.listen()
        one.connect(named or address)
        other = listener.accept()[0]
        one.sendall(b"hello")
        return [other.recv(10), listener.getsockname() == address, one.getpeername() == address]


@check
def unix_absolute() -> list[object]:
    return unix_echo(os.path.abspath("absolute.sock"))


@check
def unix_relative() -> list[object]:
    os.makedirs("below", exist_ok=True)
    os.chdir("below")
    try:
        return unix_echo("relative.sock", "../below/relative.sock")
    finally:
        os.chdir("..")


@check
def unix_long() -> list[object]:
    """107 bytes, relative to a deep folder."""
    return unix_echo("x" * 107)


@check
def unix_link() -> list[object]:
    os.symlink("target.sock", "link.sock")
    return unix_echo("target.sock", "link.sock")


@check
def unix_abstract() -> list[object]:
    return unix_echo(b"\0flowproof-" + str(os.getpid()).encode())


@check
def unix_through_own_descriptor() -> list[object]:
    """What programs do whose path is too long."""
    folder = os.open(".", os.O_PATH)
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as one:
        listener.bind(f"/proc/self/fd/{folder}/short.sock")
        listener.listen()
        one.connect(f"/proc/self/fd/{folder}/short.sock")
        return [os.path.exists("short.sock")]


@check
def unix_umask() -> str:
    os.umask(0o027)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("masked.sock")
        return oct(os.stat("masked.sock").st_mode & 0o777)


@check
def unix_missing() -> str:
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect("nothing.sock")
        except OSError as error:
            return name_of(error)
    return "connected"


@check
def unix_not_a_socket() -> str:
    open("file", "w").close()
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect("file")
        except OSError as error:
            return name_of(error)
    return "connected"


@check
def unix_in_use() -> str:
    with socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as two:
        one.bind("used.sock")
        try:
            two.bind("used.sock")
        except OSError as error:
            return name_of(error)
    return "bound"


@check
def unix_datagrams() -> list[object]:
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as two,
    ):
        one.bind("one.sock")
        two.bind("two.sock")
        one.sendto(b"to", "two.sock")
        two.sendmsg([b"back"], [], 0, "one.sock")
        return [*two.recvfrom(10), one.recv(10)]


@check
def interfaces_by_netlink() -> bool:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as one:
        one.bind((0, 0))
        request = struct.pack("=IHHIIBxHiII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0, 0)
        one.sendto(request, (0, 0))
        return one.recv(65536)[4:6] == struct.pack("=H", 16)


@check
def resolving_localhost() -> bool:
    return "127.0.0.1" in {str(info[4][0]) for info in socket.getaddrinfo("localhost", 80)}


@check
def asyncio_streams() -> bytes:
    async def talk() -> bytes:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.writelines([await reader.readline(), b"!"])
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"hello\n")
        found = await reader.read()
        writer.close()
        server.close()
        return found

    return asyncio.run(talk())


def double(number: int) -> int:
    return number * 2


@check
def multiprocessing_forkserver() -> list[int]:
    with multiprocessing.get_context("forkserver").Pool(2) as pool:
        return pool.map(double, range(5))


@check
def server_on_a_wildcard() -> bytes:
    with socket.create_server(("", 0)) as listener:
        one = socket.create_connection(("127.0.0.1", listener.getsockname()[1]))
        one.sendall(b"hello")
        return listener.accept()[0].recv(10)


@check
def server_never_bound() -> bytes:
    with socket.socket() as listener:
        listener.listen()
        one = socket.create_connection(("127.0.0.1", listener.getsockname()[1]))
        one.sendall(b"hello")
        return listener.accept()[0].recv(10)


def main() -> None:
    chosen = sys.argv[1:] or list(CHECKS)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in chosen:
            try:
                print(name, CHECKS[name](), flush=True)
            except Exception as error:
                print(name, repr(error), flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
