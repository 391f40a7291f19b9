"""Counts what arrives. Prints `ready`, then for each line on stdin a JSON list of what has come since the last.

Usage: sink.py packets INTERFACE                     every IP packet: [protocol, source, destination, port]
       sink.py sockets HOST4 PORT COUNT              TCP connections and datagrams at PORT..PORT+COUNT-1
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys

IGMP, UDP, ICMP6 = 2, 17, 58


def packets(interface: str) -> None:
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    tap.bind((interface, 0))
    say("ready")
    for _ in sys.stdin:
        seen = []
        tap.setblocking(False)
        while True:
            try:
                data, where = tap.recvfrom(65536)
            except BlockingIOError:
                break
            if where[2] != 4 and (packet := decode(where[1], data)):
                seen.append(packet)
        say(json.dumps(seen))


def decode(kind: int, data: bytes) -> list[object] | None:
    """Protocol, destination and its port; None for neighbour discovery and the like, which no program sends."""
    if kind == 0x0800:
        head = (data[0] & 15) * 4
        protocol, to = data[9], socket.inet_ntoa(data[16:20])
    elif kind == 0x86DD:
        head, protocol, to = 40, data[6], socket.inet_ntop(socket.AF_INET6, data[24:40])
        if protocol in (0, ICMP6):
            return None
        if protocol == 43:  # routing header
            protocol, head = data[40], 40 + 8 * (1 + data[41])
    else:
        return None
    if protocol == IGMP:  # version 3: the group of the first record
        to = socket.inet_ntoa(data[head + 12 : head + 16])
    port = struct.unpack("!H", data[head + 2 : head + 4])[0] if protocol in (6, UDP) else 0
    return [protocol, to, port]


def sockets(host: str, first: int, count: int) -> None:
    tcp, udp = [], []
    for port in range(first, first + count):
        tcp.append(socket.create_server((host, port)))
        udp.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp[-1].bind((host, port))
    say("ready")
    seen: list[list[object]] = []
    while True:
        ready, _, _ = select.select([sys.stdin, *tcp, *udp], (), ())
        for one in tcp:
            if one in ready:
                one.accept()[0].close()
                seen.append([6, host, one.getsockname()[1]])
        for one in udp:
            if one in ready:
                one.recv(65536)
                seen.append([UDP, host, one.getsockname()[1]])
        if ready == [sys.stdin]:  # everything that had come has been taken
            if not sys.stdin.readline():
                return
            say(json.dumps(seen))
            seen = []


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "packets":
        packets(sys.argv[2])
    else:
        sockets(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
