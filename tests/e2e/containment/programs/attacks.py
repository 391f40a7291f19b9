"""Ways to reach another machine, one function each. Prints `NAME ok` or `NAME ERRNO` for every one it tries.

Usage: attacks.py HOST4 HOST6 PORT INTERFACE NAME...; each attack has a port of its own, PORT + its position in TABLE.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable

HOST4, HOST6, PORT, INTERFACE = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
libc = ctypes.CDLL(None, use_errno=True)
FASTOPEN = 0x20000000
DATA = b"secret"
TABLE: dict[str, Callable[[int], object]] = {}


def attack(function: Callable[[int], object]) -> Callable[[int], object]:
    TABLE[function.__name__] = function
    return function


def index() -> int:
    return socket.if_nametoindex(INTERFACE)


def checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def sockaddr(host: str, port: int) -> bytes:
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton(host))


def tcp(family: int = socket.AF_INET) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM)
    one.settimeout(2)
    return one


def udp(family: int = socket.AF_INET) -> socket.socket:
    return socket.socket(family, socket.SOCK_DGRAM)


@attack
def tcp4(port: int) -> None:
    tcp().connect((HOST4, port))


@attack
def tcp6(port: int) -> None:
    tcp(socket.AF_INET6).connect((HOST6, port))


@attack
def tcp_mapped(port: int) -> None:
    tcp(socket.AF_INET6).connect((f"::ffff:{HOST4}", port))


@attack
def tcp_long_address(port: int) -> None:
    address = sockaddr(HOST4, port).ljust(128, b"\1")
    one = tcp_blocking()
    checked(libc.connect(one.fileno(), address, 128))


def tcp_blocking() -> socket.socket:
    one = tcp()
    one.settimeout(None)
    return one


@attack
def tcp_nonblocking(port: int) -> None:
    one = tcp()
    one.setblocking(False)
    number = one.connect_ex((HOST4, port))
    if number not in (0, errno.EINPROGRESS):
        raise OSError(number, "")


@attack
def tcp_after_dissolving(port: int) -> None:
    one = udp()
    one.connect(("127.0.0.1", port))
    checked(libc.connect(one.fileno(), b"\0" * 16, 16))
    one.connect((HOST4, port))
    one.send(DATA)


@attack
def udp_sendto(port: int) -> None:
    udp().sendto(DATA, (HOST4, port))


@attack
def udp_sendto6(port: int) -> None:
    udp(socket.AF_INET6).sendto(DATA, (HOST6, port))


@attack
def udp_sendmsg(port: int) -> None:
    udp().sendmsg([DATA], [], 0, (HOST4, port))


@attack
def udp_sendmsg_40_vectors(port: int) -> None:
    udp().sendmsg([b"x"] * 40, [], 0, (HOST4, port))


@attack
def udp_mapped(port: int) -> None:
    udp(socket.AF_INET6).sendto(DATA, (f"::ffff:{HOST4}", port))


@attack
def udp_v4_address_on_v6_socket(port: int) -> None:
    raw_sendto(udp(socket.AF_INET6), sockaddr(HOST4, port))


@attack
def udp_unspecified_family(port: int) -> None:
    raw_sendto(udp(), b"\0\0" + sockaddr(HOST4, port)[2:])


def raw_sendto(one: socket.socket, address: bytes, flags: int = 0) -> None:
    checked(libc.sendto(one.fileno(), DATA, len(DATA), flags, address, len(address)))


@attack
def udp_connect_then_send(port: int) -> None:
    one = udp()
    one.connect((HOST4, port))
    one.send(DATA)


@attack
def udp_connected_elsewhere(port: int) -> None:
    one = udp()
    one.connect((HOST4, port))
    one.sendto(DATA, (HOST4, port))


@attack
def udp_sendmmsg_second(port: int) -> None:
    """The first goes to loopback, the second does not: the count tells how far it came."""
    addresses = [sockaddr("127.0.0.1", port), sockaddr(HOST4, port)]
    buffers = [ctypes.create_string_buffer(DATA, len(DATA)) for _ in addresses]
    names = [ctypes.create_string_buffer(a, 16) for a in addresses]
    vectors = [ctypes.create_string_buffer(struct.pack("@PN", ctypes.addressof(b), len(DATA)), 16) for b in buffers]
    batch = b"".join(
        struct.pack("@PI4xPNPNi4xI4x", ctypes.addressof(n), 16, ctypes.addressof(v), 1, 0, 0, 0, 0)
        for n, v in zip(names, vectors, strict=True)
    )
    one = udp()
    sent = checked(libc.sendmmsg(one.fileno(), ctypes.create_string_buffer(batch, len(batch)), 2, 0))
    if sent < 2:
        raise OSError(errno.EACCES, "only the first was sent")


@attack
def fastopen_sendto(port: int) -> None:
    raw_sendto(tcp_blocking(), sockaddr(HOST4, port), FASTOPEN)


@attack
def fastopen_sendmsg(port: int) -> None:
    tcp_blocking().sendmsg([DATA], [], FASTOPEN, (HOST4, port))


@attack
def fastopen_connect(port: int) -> None:
    one = tcp_blocking()
    one.setsockopt(socket.IPPROTO_TCP, 30, 1)
    one.connect((HOST4, port))
    one.send(DATA)


@attack
def mptcp(port: int) -> None:
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
    one.settimeout(2)
    one.connect((HOST4, port))


# What follows stays on loopback by its address and leaves the machine all the same.


@attack
def steer_pktinfo_cmsg(port: int) -> None:
    control = struct.pack("=i4s4s", index(), b"\0" * 4, b"\0" * 4)
    udp().sendmsg([DATA], [(socket.IPPROTO_IP, 8, control)], 0, ("127.0.0.1", port))


@attack
def steer_bindtodevice(port: int) -> None:
    one = udp()
    one.setsockopt(socket.SOL_SOCKET, 25, INTERFACE.encode() + b"\0")
    one.sendto(DATA, ("127.0.0.1", port))


@attack
def steer_bindtoifindex(port: int) -> None:
    one = udp()
    one.setsockopt(socket.SOL_SOCKET, 62, index())
    one.sendto(DATA, ("127.0.0.1", port))


@attack
def steer_unicast_if(port: int) -> None:
    one = udp()
    one.setsockopt(socket.IPPROTO_IP, 50, struct.pack("!i", index()))
    one.sendto(DATA, ("127.0.0.1", port))


def source_route() -> bytes:
    """Loose source route: first to the given host, on to loopback."""
    hops = socket.inet_aton(HOST4) + socket.inet_aton("127.0.0.1")
    return bytes((131, 3 + len(hops), 4)) + hops + b"\0"


@attack
def steer_source_route_udp(port: int) -> None:
    one = udp()
    one.setsockopt(socket.IPPROTO_IP, 4, source_route())
    one.sendto(DATA, ("127.0.0.1", port))


@attack
def steer_source_route_tcp(port: int) -> None:
    one = tcp()
    one.setsockopt(socket.IPPROTO_IP, 4, source_route())
    one.connect(("127.0.0.1", port))


@attack
def steer_retopts_cmsg(port: int) -> None:
    udp().sendmsg([DATA], [(socket.IPPROTO_IP, 7, source_route())], 0, ("127.0.0.1", port))


def routing_header() -> bytes:
    """Segment routing (type 4), one segment: the peer."""
    return struct.pack("!BBBBBBH", 0, 2, 4, 0, 0, 0, 0) + socket.inet_pton(socket.AF_INET6, HOST6)


@attack
def steer_routing_header(port: int) -> None:
    one = udp(socket.AF_INET6)
    one.setsockopt(socket.IPPROTO_IPV6, 57, routing_header())
    one.sendto(DATA, ("::1", port))


@attack
def steer_pktinfo6_sticky(port: int) -> None:
    one = udp(socket.AF_INET6)
    one.setsockopt(socket.IPPROTO_IPV6, 50, struct.pack("=16si", b"\0" * 16, index()))
    one.sendto(DATA, ("::1", port))


@attack
def steer_pktinfo6_cmsg(port: int) -> None:
    control = struct.pack("=16si", b"\0" * 16, index())
    udp(socket.AF_INET6).sendmsg([DATA], [(socket.IPPROTO_IPV6, 50, control)], 0, ("::1", port))


@attack
def steer_flow_label(port: int) -> None:
    """A flow label keeps extension headers for whoever sends with it: here a routing header (type 2) to the peer."""
    one = udp(socket.AF_INET6)
    header = struct.pack("!BBBBI", 0, 2, 2, 1, 0) + socket.inet_pton(socket.AF_INET6, HOST6)
    control = struct.pack("@Nii", 16 + len(header), socket.IPPROTO_IPV6, 57) + header
    label = (
        socket.inet_pton(socket.AF_INET6, "::1") + struct.pack("!I", 0x12345) + struct.pack("=BBHHHI", 0, 1, 1, 0, 0, 0)
    )
    one.setsockopt(socket.IPPROTO_IPV6, 32, label + control)
    one.setsockopt(socket.IPPROTO_IPV6, 33, 1)
    one.sendto(DATA, ("::1", port, 0x12345, 0))


@attack
def multicast_membership(port: int) -> None:
    """Joining tells the network which group: 28 bits of the agent's choice."""
    group = socket.inet_aton(f"239.7.{port >> 8}.{port & 255}")
    udp().setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack("=4s4si", group, b"\0" * 4, index()))


@attack
def multicast_send(port: int) -> None:
    udp().sendto(DATA, ("239.7.7.7", port))


@attack
def broadcast(port: int) -> None:
    one = udp()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    one.sendto(DATA, ("255.255.255.255", port))


# Other ways to make the call.


@attack
def from_thread(port: int) -> None:
    failed: list[OSError] = []

    def reach() -> None:
        try:
            tcp().connect((HOST4, port))
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=reach)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


@attack
def from_daemon(port: int) -> None:
    """A grandchild in a session of its own, its parent gone."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            try:
                tcp().connect((HOST4, port))
                os.write(write, b"0")
            except OSError as error:
                os.write(write, str(error.errno or errno.ETIMEDOUT).encode())
        os._exit(0)
    os.wait()
    if number := int(os.read(read, 10)):
        raise OSError(number, "")


@attack
def from_new_user_namespace(port: int) -> None:
    if os.fork() == 0:
        checked(libc.unshare(0x10000000))
        os._exit(_code(lambda: tcp().connect((HOST4, port))))
    _raise(os.wait()[1])


def _code(act: Callable[[], object]) -> int:
    try:
        act()
    except OSError as error:
        return error.errno or errno.ETIMEDOUT
    return 0


def _raise(status: int) -> None:
    if number := os.waitstatus_to_exitcode(status):
        raise OSError(abs(number), "")


def main() -> None:
    for position, (name, act) in enumerate(TABLE.items()):
        if name in sys.argv[5:]:
            try:
                act(PORT + position)
                print(name, "ok", flush=True)
            except OSError as error:
                print(name, errno.errorcode.get(error.errno or 0, repr(error)), flush=True)


if __name__ == "__main__":
    main()
