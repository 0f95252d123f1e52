"""Archives for tests, whole and hostile."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping

__all__ = ["patched", "tar_of", "zip_of"]


def zip_of(files: Mapping[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as packed:
        for name, content in files.items():
            packed.writestr(zipfile.ZipInfo(name), content, method)
    return target.getvalue()


def packed_zip_of(files: Mapping[str, tuple[bytes, bytes]], method: int) -> bytes:
    """A zip archive of content that is packed already, by a method that Python does not write: name → plain, packed."""
    body, directory = b"", b""
    for name, (plain, packed) in files.items():
        told = (method, 0, 0, zlib.crc32(plain), len(packed), len(plain), len(name), 0)
        directory += (
            struct.pack("<4sHHHHHHLLLHHHHHLL", b"PK\x01\x02", 20, 63, 0, *told, 0, 0, 0, 0, len(body)) + name.encode()
        )
        body += struct.pack("<4sHHHHHLLLHH", b"PK\x03\x04", 63, 0, *told) + name.encode() + packed
    end = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, len(files), len(files), len(directory), len(body), 0)
    return body + directory + end


def tar_of(files: Mapping[str, bytes], *, layout: int = tarfile.GNU_FORMAT, mode: str = "w") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode, format=layout) as packed:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return target.getvalue()


def patched(archive: bytes, member: int, **fields: int) -> bytes:
    """A zip archive with fields of a directory entry overwritten."""
    places = {"flags": (8, "<H"), "method": (10, "<H"), "crc": (16, "<L"), "packed": (20, "<L"), "size": (24, "<L")}
    places["place"] = (42, "<L")
    at = -1
    for _ in range(member):
        at = archive.index(b"PK\x01\x02", at + 1)
    data = bytearray(archive)
    for name, value in fields.items():
        offset, layout = places[name]
        struct.pack_into(layout, data, at + offset, value)
    return bytes(data)
