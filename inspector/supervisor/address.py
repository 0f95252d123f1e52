"""Where `up` listens."""

from __future__ import annotations

import socket

LOOPBACK = {"127.0.0.1": socket.AF_INET, "localhost": socket.AF_INET, "::1": socket.AF_INET6}
FIRST_PORT = 8000
TRIED = 20
BACKLOG = 128


class AddressError(Exception):
    """The address cannot be used. The text is for the person who asked for it."""


def listen(host: str, port: int | None) -> socket.socket:
    """A listening socket on this machine only. Without a port the first free one from 8000 on."""
    if host not in LOOPBACK:
        raise AddressError(
            f"Twentyfold does not listen on {host}: until a login exists, everybody who reaches the address could read "
            "and delete everything. Use 127.0.0.1, localhost or ::1, and reach it from elsewhere through an SSH tunnel."
        )
    if port is not None:
        try:
            return _bound(host, port)
        except OSError as error:
            raise AddressError(
                f"Port {port} on {host} cannot be used: {error.strerror}. Choose another --port, or leave it out."
            ) from error
    for candidate in [*range(FIRST_PORT, FIRST_PORT + TRIED), 0]:
        try:
            return _bound(host, candidate)
        except OSError:
            continue
    raise AddressError(f"No free port was found on {host}. Choose one with --port.")


def url_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _bound(host: str, port: int) -> socket.socket:
    family = LOOPBACK[host]
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1" if family == socket.AF_INET else "::1", port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening
