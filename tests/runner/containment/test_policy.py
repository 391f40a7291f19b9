"""Which destinations are allowed, from entries as people write them to addresses as the kernel reads them."""

from __future__ import annotations

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_runner.containment import sockaddr
from flowproof_runner.containment.policy import Decision, Entry, Policy, hidden, parse, pin
from flowproof_runner.containment.sockaddr import Endpoint

ALLOW, DENY, DNS = Decision.ALLOW, Decision.DENY, Decision.DNS


def to(host: str, port: int = 443) -> Endpoint:
    return Endpoint(ipaddress.ip_address(host), port)


def policy(*entries: str, **options: tuple[str, ...]) -> Policy:
    pinned = {"api.example.com": ("198.51.100.7", "2001:db8::7")}
    return Policy(tuple(pin(parse(text), lambda name: pinned.get(name, ())) for text in entries), **options)  # type: ignore[arg-type]  # test options


@pytest.mark.parametrize(
    ("entry", "networks", "port", "name"),
    [
        ("198.51.100.9:443", ("198.51.100.9/32",), 443, ""),
        ("198.51.100.9", ("198.51.100.9/32",), None, ""),
        ("10.0.0.0/8:443", ("10.0.0.0/8",), 443, ""),
        ("10.0.0.0/8", ("10.0.0.0/8",), None, ""),
        ("[2001:db8::1]:443", ("2001:db8::1/128",), 443, ""),
        ("[2001:db8::1]", ("2001:db8::1/128",), None, ""),
        ("[2001:db8::/32]:443", ("2001:db8::/32",), 443, ""),
        ("2001:db8::1", ("2001:db8::1/128",), None, ""),
        ("api.example.com:443", (), 443, "api.example.com"),
        ("API.Example.com.", (), None, "api.example.com"),
        ("localhost:5432", (), 5432, "localhost"),
        ("my_service:80", (), 80, "my_service"),
    ],
)
def test_an_entry_is_read(entry: str, networks: tuple[str, ...], port: int | None, name: str) -> None:
    assert parse(entry) == Entry(entry, networks, port, name)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("https://api.example.com", "a URL"),
        ("*.example.com:443", "a wildcard"),
        ("api.example.com:https", "a port is a number"),
        ("api.example.com:0", "a port is a number"),
        ("api.example.com:65536", "a port is a number"),
        ("api.example.com:", "a port is a number"),
        ("10.0.0.1/8:443", "no bits set after the prefix"),
        ("999.1.1.1:443", "not a destination"),
        ("2001:db8::1:443:zz", "not a destination"),
        ("[2001:db8::1:443", "an unfinished bracket"),
        ("[2001:db8::1]443", "an unfinished bracket"),
        ("", "not a destination"),
        (":443", "not a destination"),
        ("api..example.com", "not a destination"),
        ("-api.example.com", "not a destination"),
        ("api.example.com/path", "not a network"),
    ],
)
def test_what_is_no_destination_is_refused_in_words(entry: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(entry)


def test_the_value_of_a_variable_is_used_and_neither_kept_nor_shown() -> None:
    entry = parse("${SERVICE}:443", "198.51.100.9:443")
    assert (entry.text, entry.networks) == ("${SERVICE}:443", ("198.51.100.9/32",))
    with pytest.raises(ValueError) as refused:
        parse("${SERVICE}:443", "hidden*value:443")
    assert "hidden" not in str(refused.value)


def test_what_came_out_of_a_variable_is_shown_as_the_spec_has_it() -> None:
    texts = {
        "${HOST}:443": "api.example.com:443",
        "${PLACE}": "198.51.100.9:443",
        "${V6}:1": "[2001:db8::9]:1",
        "open.example.com": "open.example.com",
    }
    pinned = {"api.example.com": ("198.51.100.7", "2001:db8::7"), "open.example.com": ("198.51.100.8",)}
    assert hidden(pin(parse(text, value), lambda name: pinned[name]) for text, value in texts.items()) == {
        "api.example.com": "${HOST}",
        "198.51.100.7": "${HOST}",
        "2001:db8::7": "${HOST}",
        "198.51.100.9": "${PLACE}",
        "2001:db8::9": "${V6}",
    }


@pytest.mark.parametrize(
    ("host", "port", "decision"),
    [
        ("198.51.100.7", 443, ALLOW),
        ("2001:db8::7", 443, ALLOW),
        ("198.51.100.7", 80, DENY),
        ("198.51.100.8", 443, DENY),
        ("10.255.0.1", 80, ALLOW),
        ("10.255.0.1", 81, DENY),
        ("11.0.0.1", 80, DENY),
        ("127.0.0.1", 1, ALLOW),
        ("127.255.255.254", 1, ALLOW),
        ("::1", 1, ALLOW),
        ("0.0.0.0", 1, ALLOW),
        ("::", 1, ALLOW),
        ("0.0.0.1", 1, DENY),
        ("169.254.169.254", 80, DENY),
        ("255.255.255.255", 1, DENY),
        ("224.0.0.251", 5353, DENY),
        ("fe80::1", 1, DENY),
        ("::2", 1, DENY),
        ("::127.0.0.1", 1, DENY),
        ("64:ff9b::7f00:1", 1, DENY),
        ("192.0.2.53", 53, DNS),
        ("2001:db8::53", 53, DNS),
        ("192.0.2.53", 5353, DENY),
        ("192.0.2.54", 53, DENY),
        ("127.0.0.53", 53, DNS),
        ("127.0.0.11", 53, DNS),
        ("127.0.0.11", 43211, DENY),
        ("::1", 53, DNS),
    ],
)
def test_a_destination_is_judged(host: str, port: int, decision: Decision) -> None:
    judged = policy(
        "api.example.com:443", "10.0.0.0/8:80", nameservers=("192.0.2.53", "2001:db8::53", "127.0.0.1", "127.0.0.11")
    )
    assert judged.decide(to(host, port)) is decision


def test_a_declared_name_server_is_asked_itself() -> None:
    servers = ("192.0.2.53",)
    assert policy("192.0.2.53:53", nameservers=servers).decide(to("192.0.2.53", 53)) is ALLOW
    assert policy("127.0.0.1:53").decide(to("127.0.0.1", 53)) is ALLOW


def test_loopback_may_stand_for_another_machine_in_tests_only() -> None:
    judged = policy(off_host=("127.0.0.2/32",))
    assert (judged.decide(to("127.0.0.2")), judged.decide(to("127.0.0.1"))) == (DENY, ALLOW)
    assert Policy().off_host == ()


def test_the_names_are_those_declared_with_all_their_addresses() -> None:
    judged = policy("api.example.com:443", "api.example.com:80", "10.0.0.0/8", "lost.example.com")
    assert judged.names == {"api.example.com": ("198.51.100.7", "2001:db8::7") * 2, "lost.example.com": ()}


@given(ip=st.ip_addresses(v=4), port=st.integers(0, 65535), flow=st.integers(0, 2**32 - 1))
def test_a_mapped_address_is_judged_as_the_v4_address_it_is(ip: ipaddress.IPv4Address, port: int, flow: int) -> None:
    plain = sockaddr.pack(ip, port, socket.AF_INET)
    mapped = sockaddr.pack(ip, port, socket.AF_INET6)
    steered = mapped[:4] + flow.to_bytes(4, "big") + mapped[8:]
    assert sockaddr.endpoint(plain) == sockaddr.endpoint(mapped) == sockaddr.endpoint(steered) == Endpoint(ip, port)
    assert sockaddr.without_flow(steered) == mapped


@given(address=st.binary(max_size=128))
def test_whatever_the_bytes_a_reading_is_an_endpoint_the_kernel_would_see_or_none(address: bytes) -> None:
    read = Policy().read(address)
    family = sockaddr.family(address)
    if read is None:
        short: dict[int, int] = {socket.AF_INET: 16, socket.AF_UNSPEC: 16, socket.AF_INET6: 24}
        assert family not in short or len(address) < short[family]
    else:
        assert read == Policy().read(address) == (sockaddr.endpoint(address), Policy().decide(read[0]))


def test_a_datagrams_unspecified_family_is_read_as_v4() -> None:
    v4 = sockaddr.pack(ipaddress.IPv4Address("198.51.100.9"), 7, socket.AF_INET)
    assert sockaddr.endpoint(b"\0\0" + v4[2:]) == sockaddr.endpoint(v4)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"\1\0/run/x.sock\0junk", b"/run/x.sock"),
        (b"\1\0relative", b"relative"),
        (b"\1\0\0abstract\0with zero", b"\0abstract\0with zero"),
        (b"\1\0", b""),
    ],
)
def test_a_local_name_ends_where_the_kernel_ends_it(raw: bytes, name: bytes) -> None:
    assert sockaddr.unix_name(raw) == name
