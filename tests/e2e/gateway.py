"""What stands between a company and its model: an authority of its own, and a proxy that asks for a password."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from mitmproxy.certs import CertStore
from tests.e2e.upstream import PATIENCE_S


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates that no machine trusts until it is told to."""

    folder: Path

    @property
    def file(self) -> Path:
        """Its own certificate, for SSL_CERT_FILE."""
        return self.folder / "own-ca-cert.pem"

    def context(self, name: str) -> ssl.SSLContext:
        """How a server of this name speaks TLS."""
        store = CertStore.from_store(self.folder, "own", 2048)
        entry = store.get_cert(name, [x509.DNSName(name)])
        both = self.folder / f"{name}.pem"
        key = entry.privatekey.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        both.write_bytes(key + entry.cert.to_pem())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(both)
        return context


@dataclass(slots=True)
class Proxy:
    """A CONNECT proxy: whatever host is asked for, it leads to `behind`. Without the right password it answers 407."""

    behind: int
    user: str = ""
    """`name:password`; empty: everybody may."""
    asked: list[str] = field(default_factory=list)
    """The first lines it was sent."""
    address: str = ""
    """`host:port`."""
    _server: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, name="proxy")
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        assert self._thread is not None
        self._thread.join(PATIENCE_S)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:  # closed: the test is over
                return
            with client:
                self._one(client)

    def _one(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head and (more := client.recv(65536)):
            head += more
        lines = head.decode().split("\r\n")
        self.asked.append(lines[0])
        word = base64.b64encode(self.user.encode()).decode()
        if self.user and f"proxy-authorization: basic {word}".lower() not in [line.lower() for line in lines]:
            client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
            return
        with socket.create_connection(("127.0.0.1", self.behind)) as server:
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=_pass_on, args=(server, client))
            back.start()
            _pass_on(client, server)
            back.join(PATIENCE_S)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:  # either end may be gone already
        pass
