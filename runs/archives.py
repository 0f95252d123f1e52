"""An archive on its way in: each result file in it becomes an upload of its own, and goes the way it would alone.

Members are written into the folder of uploads under names made here; the archive's own are only told to people.
"""

from __future__ import annotations

import hashlib
import io
import uuid
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import BinaryIO

import msgspec
import zstandard
from django.conf import settings

from runs.bundles import detect, open_bundle
from runs.bundles.archives import BrokenArchive, BrokenMember, Member, is_junk, safe_label
from runs.bundles.limits import Limits, TooLarge
from runs.bundles.opening import HEAD_BYTES, BrokenCompression, BundleStream, archive_kind, is_compressed, open_stream
from runs.bundles.run_metadata import COMPANION_END, LONGEST_COMPANION, companion_name
from runs.bundles.tarring import tar_members
from runs.bundles.zipping import zip_members
from runs.errors import BundleError, UnsupportedBundle
from runs.models import Upload, Visibility
from runs.prepare import indexed_text
from runs.records import Problem, ProblemKind
from runs.targets import sender
from runs.upload_files import KeptFile, kind_of, limits, open_upload
from runs.uploads import Wishes, new_upload, read_header

__all__ = ["Unpacked", "forget_unpacked", "member_uploads", "unpack"]

_BLOCK = 1 << 20


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A result file of an archive, kept."""

    number: int
    name: str
    reader: str
    kept: KeptFile


class Unpacked(msgspec.Struct, kw_only=True):
    """What an archive held."""

    found: list[Found] = []
    companions: dict[str, bytes] = {}
    """Path in the archive → run metadata."""
    problems: list[Problem] = []
    """`line` is the member's place in the archive."""


def unpack(upload: Upload, stream: BinaryIO, alive: Callable[[], bool] = lambda: True) -> Unpacked | None:
    """Keeps every result file of an archive; None where `alive`, asked between members, says that it is not wanted.

    Raises `BundleError` where nothing of the archive can be read, or it is larger than allowed; then nothing stays.
    """
    forget_unpacked(upload)
    result = Unpacked()
    try:
        for member in _members(stream, kind_of(stream), result):
            _take(upload, member, result, alive)
            if not alive():
                _forget(result)
                return None
    except BaseException:
        _forget(result)
        raise
    return result


def _forget(result: Unpacked) -> None:
    """Only what this very work kept: another worker may be at the same archive by now."""
    for found in result.found:
        (settings.UPLOADS_DIR / found.kept.path).unlink(missing_ok=True)


def forget_unpacked(upload: Upload) -> None:
    """Removes the members that were kept of an archive and belong to no upload yet. Idempotent."""
    files = {file.name: file for file in settings.UPLOADS_DIR.glob(f"{_stem(upload)}*")}
    taken = Upload.objects.filter(path__in=files).values_list("path", flat=True)
    for name in files.keys() - set(taken):
        files[name].unlink(missing_ok=True)


def member_uploads(upload: Upload, unpacked: Unpacked) -> list[Upload]:
    """An unsaved upload for each result file of an archive, with what was said about the archive."""
    said = Wishes(
        model=upload.model,
        benchmark="" if upload.benchmark_inferred else upload.benchmark,
        repetitions=upload.repetitions,
        run=upload.run.slug if upload.run is not None else "",
        private=upload.visibility == Visibility.PRIVATE,
        mask=upload.mask,
    )
    sent_by = sender(upload)
    made = []
    for found in unpacked.found:
        beside = PurePosixPath(found.name).with_name(companion_name(found.name))
        member = new_upload(
            found.name, found.kept, companion=unpacked.companions.get(str(beside)), wishes=said, access=sent_by
        )
        member.reader, member.archive, member.is_demo = found.reader, upload, upload.is_demo
        with open_upload(member) as stream:
            read_header(member, stream)
        made.append(member)
    return made


def _members(stream: BinaryIO, kind: str, result: Unpacked) -> Iterator[Member]:
    """The members, and the damage that ends them as a problem of the archive."""
    members = zip_members(stream, limits()) if kind == "zip" else tar_members(open_stream(stream, limits()), limits())
    last = 0
    try:
        for member in members:
            last = member.number
            yield member
    except BrokenArchive as error:
        if not last:
            raise
        reason = f"After member {last:,} the archive cannot be read. {error}"
        result.problems.append(Problem(line=last + 1, kind=ProblemKind.REJECTED, reason=reason))


def _take(upload: Upload, member: Member, result: Unpacked, alive: Callable[[], bool]) -> None:
    if is_junk(member.name):
        return
    label = safe_label(member.name)
    if member.problem:
        result.problems.append(_problem(member, ProblemKind.REJECTED, f"{label}: {member.problem}"))
        return
    try:
        if label.endswith(COMPANION_END):
            result.companions[label] = _small(member)
            return
        found = _keep(upload, member, label, alive)
    except BrokenMember as error:
        result.problems.append(_problem(member, ProblemKind.REJECTED, f"{label}: {error} Nothing of it was read."))
    except TooLarge:
        raise
    except (UnsupportedBundle, BrokenCompression) as error:
        result.problems.append(_problem(member, ProblemKind.REJECTED, f"{label}: {error}"))
    except BundleError as error:
        # Whoever packs a folder of results packs its settings and reports too.
        result.problems.append(_problem(member, ProblemKind.NOTE, f"Passed over, as it holds no results: {error}"))
    else:
        if found is not None:
            result.found.append(found)


def _keep(upload: Upload, member: Member, label: str, alive: Callable[[], bool]) -> Found | None:
    """Writes a member into the folder of uploads if it is a result file. None where the work is not wanted any more."""
    content = member.content
    head = b""
    while len(head) < HEAD_BYTES and (block := next(content, b"")):
        head += block
    if archive_kind(head):
        raise UnsupportedBundle("It is an archive in the archive, which is not read. Unpack it, and give its files.")
    packed = is_compressed(head)
    if not packed:
        detect(_head_of(head), label)
    name = f"{_stem(upload)}{uuid.uuid4().hex}"
    path = settings.UPLOADS_DIR / name
    digest = hashlib.sha256()
    # Plain rows are many times larger than packed ones; the digest is of the member as it is, so that a run is found
    # again however the file comes.
    packer = None if packed else zstandard.ZstdCompressor(level=1).compressobj()
    try:
        with path.open("wb") as target:
            for block in _blocks(head, content):
                digest.update(block)
                target.write(packer.compress(block) if packer else block)
                if not alive():
                    path.unlink()
                    return None
            if packer:
                target.write(packer.flush())
        with path.open("rb") as stream:
            reader = detect(_opened(stream).head(HEAD_BYTES), label)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    kept = KeptFile(name, digest.hexdigest(), path.stat().st_size)
    return Found(number=member.number, name=label, reader=reader.name, kept=kept)


def _opened(stream: BinaryIO) -> BundleStream:
    return open_bundle(stream, limits())


def _head_of(head: bytes) -> bytes:
    return open_bundle(io.BytesIO(head), Limits()).head(HEAD_BYTES)


def _blocks(head: bytes, content: Iterator[bytes]) -> Iterator[bytes]:
    gathered = [head]
    size = len(head)
    for block in content:
        gathered.append(block)
        size += len(block)
        if size >= _BLOCK:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield b"".join(gathered)


def _small(member: Member) -> bytes:
    """Run metadata, or its beginning where it is longer than any: reading it then says so."""
    data = b""
    for block in member.content:
        data += block
        if len(data) > LONGEST_COMPANION:
            break
    return data[: LONGEST_COMPANION + 1]


def _problem(member: Member, kind: ProblemKind, reason: str) -> Problem:
    return Problem(line=member.number, kind=kind, reason=indexed_text(reason, 4000))


def _stem(upload: Upload) -> str:
    return f"member-{upload.pk}-"
