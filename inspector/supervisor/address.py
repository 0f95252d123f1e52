"""Where `up` listens."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress

LOOPBACK = ("127.0.0.1", "localhost", "::1")
FIRST_PORT = 8000
TRIED = 20
BACKLOG = 128


class AddressError(Exception):
    """The address cannot be used. The text is for the person who asked for it."""


def listen(host: str, port: int | None, *, login: bool = False) -> socket.socket:
    """A listening socket. Without a login only for this machine; without a port the first free one from 8000 on."""
    if host not in LOOPBACK and not login:
        raise AddressError(
            f"Twentyfold does not listen on {host}: nobody has to log in, so everybody who reaches the address could "
            "read and delete everything. Set TWENTYFOLD_AUTH=required and make an account with `manage.py "
            "createowner`, or use 127.0.0.1, localhost or ::1, and reach it from elsewhere through an SSH tunnel."
        )
    family, address = _resolved(host)
    if port is not None:
        try:
            return _bound(family, address, port)
        except OSError as error:
            raise AddressError(
                f"Port {port} on {host} cannot be used: {error.strerror}. Choose another --port, or leave it out."
            ) from error
    unusable: OSError | None = None
    for candidate in [*range(FIRST_PORT, FIRST_PORT + TRIED), 0]:
        try:
            return _bound(family, address, candidate)
        except OSError as error:
            unusable = error
    raise AddressError(f"{host} cannot be listened on: {unusable.strerror if unusable else 'no free port'}.")


def url_of(listening: socket.socket) -> str:
    """The address for a browser on this machine."""
    host, port = local_address(listening)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def local_address(listening: socket.socket) -> tuple[str, int]:
    """Host and port at which this machine itself reaches the socket: where it listens on all, the loopback."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "::1" if listening.family == socket.AF_INET6 else "127.0.0.1"
    return host, port


def names_of(listening: socket.socket) -> list[str]:
    """The names and addresses of this machine under which others reach the socket, as a browser writes them."""
    host = listening.getsockname()[0]
    if ipaddress.ip_address(host).is_loopback:
        return []
    if not ipaddress.ip_address(host).is_unspecified:
        return [_written(host)]
    own = socket.gethostname()
    addresses = _outward(listening.family)
    # The name may be known to others only, or to nobody.
    with suppress(OSError):
        found = socket.getaddrinfo(own, None, listening.family, socket.SOCK_STREAM)
        addresses += [str(entry[4][0]).partition("%")[0] for entry in found]
    others = [_written(address) for address in addresses if not ipaddress.ip_address(address).is_loopback]
    return list(dict.fromkeys([*others, own]))


def _outward(family: int) -> list[str]:
    """The address under which this machine goes out, if it does. Nothing is sent for it."""
    elsewhere = "2001:db8::1" if family == socket.AF_INET6 else "198.51.100.1"
    with socket.socket(family, socket.SOCK_DGRAM) as out:
        try:
            out.connect((elsewhere, 9))
        except OSError:
            return []
        return [str(out.getsockname()[0])]


def _written(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _resolved(host: str) -> tuple[socket.AddressFamily, str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise AddressError(f"{host} is no address of this machine: {error.strerror}.") from error
    # `localhost` is both; browsers and people mean the older one.
    family, _, _, _, address = sorted(found, key=lambda entry: entry[0] != socket.AF_INET)[0]
    return family, str(address[0])


def _bound(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening
