"""Programs in Go and Rust, built once where the toolchain is present."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

GO = """
package main
import ("context"; "fmt"; "net"; "net/http"; "os"; "time")
func main() {
	client := http.Client{Timeout: 5 * time.Second}
	for _, host := range os.Args[1:] {
		if answer, err := client.Get("http://" + host + "/"); err == nil {
			fmt.Println(answer.StatusCode)
		} else {
			fmt.Println("failed")
		}
	}
	pure := net.Resolver{PreferGo: true}
	host, _, _ := net.SplitHostPort(os.Args[1])
	if found, err := pure.LookupHost(context.Background(), host); err == nil {
		fmt.Println(found[0])
	} else {
		fmt.Println("not found")
	}
}
"""
RUST = """
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;
fn get(mut stream: TcpStream) -> std::io::Result<String> {
    stream.write_all(b"GET / HTTP/1.0\\r\\n\\r\\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text[9..12].to_string())
}
fn timed(address: &SocketAddr) -> std::io::Result<String> {
    get(TcpStream::connect_timeout(address, Duration::from_secs(5))?)
}
fn main() {
    for host in std::env::args().skip(1) {
        println!("{}", TcpStream::connect(&host).and_then(get).unwrap_or("failed".to_string()));
    }
    let first = std::env::args().nth(1).unwrap();
    match first.to_socket_addrs().map(|mut all| all.find(|one| one.is_ipv4())) {
        Ok(Some(address)) => println!("{}", timed(&address).map(|_| address.ip().to_string()).unwrap()),
        _ => println!("not found"),
    }
}
"""
BUILD = {
    "go": (GO, "main.go", ("go", "build", "-o", "program", "main.go")),
    "rust": (RUST, "main.rs", ("rustc", "-o", "program", "main.rs")),
}
"""Each program takes `host:port` words, prints the status of each or `failed`, then the first host's address."""


def program(shared: Path, language: str) -> Path:
    """The built program; skips the test where there is no compiler."""
    text, source, words = BUILD[language]
    if not shutil.which(words[0]):
        pytest.skip(f"no {words[0]} here")
    folder = shared / language
    if not (folder / "program").exists():
        folder.mkdir(exist_ok=True)
        (folder / source).write_text(text)
        cache = {"GOCACHE": str(folder / "cache"), "GO111MODULE": "off"}
        subprocess.run(words, cwd=folder, check=True, capture_output=True, env={**os.environ, **cache})
    return folder / "program"
