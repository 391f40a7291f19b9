"""Control messages: those that only colour a packet pass, those that could steer it do not."""

from __future__ import annotations

import errno
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_runner.containment import control
from flowproof_runner.containment.control import Message

IP, IPV6, UDP, SOCKET = socket.IPPROTO_IP, socket.IPPROTO_IPV6, 17, socket.SOL_SOCKET
LOOPBACK, ELSEWHERE, ANY = socket.inet_aton("127.0.0.1"), socket.inet_aton("198.51.100.9"), bytes(4)
LOOPBACK6, ELSEWHERE6 = (socket.inet_pton(socket.AF_INET6, a) for a in ("::1", "2001:db8::9"))


def pktinfo(interface: int, source: bytes) -> Message:
    return Message(IP, 8, struct.pack("=i4s4s", interface, source, ANY))


def pktinfo6(interface: int, source: bytes) -> Message:
    return Message(IPV6, 50, source + struct.pack("=i", interface))


HARMLESS = {
    "type of service": Message(IP, 1, struct.pack("=i", 16)),
    "time to live": Message(IP, 2, struct.pack("=i", 64)),
    "traffic class": Message(IPV6, 67, struct.pack("=i", 16)),
    "hop limit": Message(IPV6, 52, struct.pack("=i", 64)),
    "segment size": Message(UDP, 103, struct.pack("=H", 1200)),
    "time to send": Message(SOCKET, 61, bytes(8)),
    "answering from loopback": pktinfo(0, LOOPBACK),
    "answering over lo": pktinfo(1, LOOPBACK),
    "no choice at all": pktinfo(0, ANY),
    "answering from ::1": pktinfo6(1, LOOPBACK6),
}
STEERING = {
    "an interface": pktinfo(2, LOOPBACK),
    "a foreign source": pktinfo(0, ELSEWHERE),
    "an interface, v6": pktinfo6(2, LOOPBACK6),
    "a foreign source, v6": pktinfo6(0, ELSEWHERE6),
    "a short pktinfo": Message(IP, 8, bytes(8)),
    "a source route": Message(IP, 7, bytes(12)),
    "a routing header": Message(IPV6, 57, bytes(24)),
    "hop-by-hop options": Message(IPV6, 54, bytes(8)),
    "destination options": Message(IPV6, 59, bytes(8)),
    "a mark": Message(SOCKET, 36, bytes(4)),
    "something to come": Message(IP, 99, bytes(4)),
}


@pytest.mark.parametrize("what", HARMLESS)
def test_what_leaves_the_way_alone_passes_unchanged(what: str) -> None:
    raw = control.pack([HARMLESS[what]])
    assert control.for_inet(raw) == raw


@pytest.mark.parametrize("what", STEERING)
def test_what_could_change_the_way_is_refused_among_harmless_ones_too(what: str) -> None:
    with pytest.raises(control.Steering) as refused:
        control.for_inet(control.pack([HARMLESS["time to live"], STEERING[what]]))
    assert refused.value.errno == errno.EPERM


def test_what_an_internet_socket_ignores_is_dropped() -> None:
    rights = Message(SOCKET, socket.SCM_RIGHTS, struct.pack("=i", 0))
    assert control.for_inet(control.pack([rights, HARMLESS["time to live"]])) == control.pack(
        [HARMLESS["time to live"]]
    )


messages = st.builds(Message, st.integers(-9, 300), st.integers(-9, 300), st.binary(max_size=40))


@given(st.lists(messages, max_size=5))
def test_packing_and_parsing_are_inverse(given_messages: list[Message]) -> None:
    assert list(control.parse(control.pack(given_messages))) == given_messages


@pytest.mark.parametrize("size", [0, 15, 1000, 2**63])
def test_a_length_that_cannot_be_is_invalid_as_in_the_kernel(size: int) -> None:
    with pytest.raises(OSError) as wrong:
        list(control.parse(struct.pack("@Nii", size, IP, 1) + bytes(8)))
    assert wrong.value.errno == errno.EINVAL


@given(st.binary(max_size=100))
def test_no_bytes_make_it_fail_in_another_way(raw: bytes) -> None:
    try:
        assert len(control.for_inet(raw)) <= len(raw) + 8
    except OSError as error:
        assert error.errno in (errno.EINVAL, errno.EPERM)
