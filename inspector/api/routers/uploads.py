"""Bundles: sent in one go or in parts, followed while they are read, asked about, stopped and tried again."""

from __future__ import annotations

import hashlib
import re
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema
from ninja import Path as PathParameter

from inspector.api.answers import json_answer, one
from inspector.api.auth import access, needs, refuse_forged
from inspector.api.bodies import Body, Name, Repetitions
from inspector.api.errors import Problem, not_found, saying
from inspector.api.operations import Listing, Sparse, operation, reads, reads_list
from inspector.api.pagination import Items, Slice, cut
from inspector.api.plain import plain
from inspector.api.structs import UploadProgress
from inspector.receiving import STATE, Refused, Wanted, append, offset_of, part_path, sweep_parts, wanted_of
from inspector.views.uploads import hint
from runs.access import Access
from runs.models import Upload, UploadState
from runs.queries.archives import with_members
from runs.queries.uploads import Problem as Line
from runs.queries.uploads import UploadRow, problem_rows, upload_row, upload_rows, uploads_total
from runs.querysets import visible_uploads
from runs.upload_files import KeptFile, blocks_of
from runs.uploads import Wishes, accept_kept, answer_upload, retry_upload, stop_upload

router = Router()
WRITERS = needs(writes=True)
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
Key = Annotated[
    str,
    PathParameter(
        pattern=saying(
            r"^([1-9][0-9]{0,17}|[0-9a-f]{64})$", "is neither an upload's id nor a SHA-256 in lower-case hex."
        ),
        description="The upload's id, or the SHA-256 of its file in hex: the newest upload of these bytes.",
    ),
]
Digest = Annotated[
    str,
    PathParameter(
        pattern=saying(r"^[0-9a-f]{64}$", "is no SHA-256 in lower-case hex, of 64 digits."),
        description="The SHA-256 of the whole file, in lower-case hex.",
    ),
]


class Said(Schema):
    """What is said about a file."""

    model: Name = Field("", description="The model's name. Without it, and without a run, the upload asks for it.")
    benchmark: Name = Field("", description="The benchmark's name.")
    repetitions: Repetitions | None = Field(None, description="k; without it the highest repetition + 1.")
    run: Name = Field("", description="The slug of the run to add to.")

    def wishes(self) -> Wishes:
        return Wishes(model=self.model, benchmark=self.benchmark, repetitions=self.repetitions, run=self.run)


class SendQuery(Said):
    name: str = Field(
        "bundle", description="The file's name, for the history; `<benchmark>.<model>.jsonl` says both.", max_length=500
    )
    private: bool = Field(False, description="A run that the file makes is seen by its owner and admins only.")
    mask: bool = Field(False, description="Mask secrets before rows are stored, not only in answers.")

    def wishes(self) -> Wishes:
        return Wishes(
            model=self.model,
            benchmark=self.benchmark,
            repetitions=self.repetitions,
            run=self.run,
            private=self.private,
            mask=self.mask,
        )


class AnswerBody(Said, Body):
    pass


def _readers(request: HttpRequest) -> None:
    """What a file's lines were refused for may quote them; who may send files has to see what became of them."""
    who = access(request)
    if not (who.evaluates or who.writes):
        needs(evaluates=True)(request)


class _Uploads:
    def __init__(self, who: Access) -> None:
        self._who = who

    @property
    def total(self) -> int:
        return uploads_total(access=self._who)

    def some(self, start: int, count: int) -> list[UploadRow]:
        return with_members(upload_rows(start, count, access=self._who), access=self._who)


@reads_list(router, "/uploads", UploadRow, check=_readers)
def index(request: HttpRequest, query: Query[Listing]) -> Slice[UploadRow]:
    """The uploads, the latest first."""
    return cut(request, _Uploads(_shown_to(request)), lambda row: row.pk, cursor=query.cursor, limit=query.limit)


def _shown_to(request: HttpRequest) -> Access:
    """Who may send files sees what became of them, whether or not they may see what tasks require."""
    return replace(access(request), evaluates=True)


def _row(upload: Upload, request: HttpRequest) -> UploadRow:
    who = _shown_to(request)
    return with_members([upload_row(upload.pk, access=who)], access=who)[0]


def _found(key: str, request: HttpRequest) -> Upload:
    uploads = Upload.objects.filter(visible_uploads(access(request))).order_by("-pk")
    upload = uploads.filter(sha256=key).first() if _DIGEST.match(key) else uploads.filter(pk=int(key)).first()
    if upload is None:
        raise not_found("There is no such upload.")
    return upload


@reads(router, "/uploads/{key}", UploadRow, check=_readers, example={"id": 1, "state": "done", "stored": 240})
def detail(request: HttpRequest, key: Key, query: Query[Sparse]) -> UploadRow:
    """One upload: how far it is, and what became of its lines.

    States: asking (for the model's name), waiting, reading, done, stopped, failed. An archive has the counts of its
    result files added up, names up to 500 of them with their runs in `files`, and is done when all of them have ended.
    """
    return _row(_found(key, request), request)


@reads_list(router, "/uploads/{key}/lines", Line, check=_readers)
def lines(request: HttpRequest, key: Key, query: Query[Listing]) -> Slice[Line]:
    """Each line that was not stored, or that something is to be said about, with the reason."""
    rows = list(problem_rows(_found(key, request).pk))
    return cut(
        request, Items(rows), lambda row: (row.line, row.kind, row.reason), cursor=query.cursor, limit=query.limit
    )


@operation(router, ["HEAD"], "/uploads/{key}", {200: None}, check=WRITERS)
def progress(request: HttpRequest, key: Digest, query: Query[SendQuery]) -> HttpResponse:
    """How much of a file is here: `Upload-Offset` is the next byte to send.

    `Upload-Complete: ?1` says that the file came in whole already; sending it again changes nothing. It takes what PUT
    takes, and refuses what PUT would refuse.
    """
    path = _part(request, key)
    state = _state(request)
    if state is not None:
        # It is asked before a body is taken off: what may not be sent is not written either.
        refuse_forged(request, "PUT")
        state["path"] = path
    here = offset_of(path)
    # Of a private file of somebody else nobody learns that it is here.
    seen = Upload.objects.filter(visible_uploads(access(request)), sha256=key).exclude(state=UploadState.FAILED)
    known = seen.order_by("-pk").first()
    whole = known is not None and not here
    return HttpResponse(
        status=200,
        headers={
            "Upload-Offset": str(known.size if known is not None and whole else here),
            "Upload-Complete": "?1" if whole else "?0",
            "Cache-Control": "no-store",
        },
    )


_SENT = {
    "application/octet-stream": {"type": "string", "format": "binary", "description": "The file, or a part of it."}
}


def _header(name: str, description: str, example: str, **schema: object) -> dict[str, object]:
    described = {"type": "string", **schema}
    return {
        "name": name,
        "in": "header",
        "required": False,
        "schema": described,
        "example": example,
        "description": description,
    }


_HEADERS = [
    _header(
        "Content-Range",
        "`bytes 0-1048575/5242880`: where the body belongs in the file.",
        "bytes 0-1048575/5242880",
        pattern=r"^bytes [0-9]{1,15}-[0-9]{1,15}/([0-9]{1,15}|\*)$",
    ),
    _header(
        "Upload-Offset",
        "The same, in bytes before it; the body is the rest unless Upload-Complete says ?0.",
        "1048576",
        pattern="^[0-9]{1,15}$",
    ),
    _header("Upload-Complete", "?0: more comes behind this part.", "?1", enum=["?0", "?1"]),
]
_WAITING = {"id": 1, "state": "waiting", "file_name": "desk.birch.jsonl"}


@operation(
    router,
    ["PUT"],
    "/uploads/{key}",
    {
        201: ("application/json", {"$struct": UploadRow}, _WAITING),
        202: ("application/json", {"$struct": UploadProgress}, {"sha256": "…", "offset": 1048576, "complete": False}),
    },
    check=WRITERS,
    body=_SENT,
    extra={"parameters": _HEADERS},
)
def send(request: HttpRequest, key: Digest, query: Query[SendQuery]) -> HttpResponse:
    """Sends a bundle, in one go or in parts, under the SHA-256 of its bytes.

    A connection that broke is gone on with: HEAD tells the offset. The last part is answered 201 with the upload,
    which workers then read (follow it with GET); any other 202. The digest is checked at the end. From there on it is
    the same as a file that was dropped on the page of uploads.
    """
    path = _part(request, key)
    try:
        wanted = _wanted(request)
        here = _arrived(request, path, wanted)
    except Refused as refusal:
        raise Problem(refusal.status, refusal.reason, headers={"Upload-Offset": str(refusal.offset)}) from None
    if not wanted.last:
        shown = UploadProgress(sha256=key, offset=here, size=wanted.size, complete=False)
        return json_answer(request, plain(shown), 202, {"Upload-Offset": str(here), "Upload-Complete": "?0"})
    sweep_parts()
    upload = accept_kept(_readable(query.name), _kept(path, key), wishes=query.wishes(), access=access(request))
    if upload.state == UploadState.WAITING:
        hint()
    headers = {
        "Location": f"/api/v1/uploads/{upload.pk}",
        "Upload-Offset": str(here),
        "Upload-Complete": "?1",
    }
    return one(request, _row(upload, request), 201, headers)


def _readable(name: str) -> str:
    return name.strip() or "bundle"


def _part(request: HttpRequest, sha256: str) -> Path:
    return part_path(sha256, access(request).user)


def _state(request: HttpRequest) -> dict[str, object] | None:
    """What the layer that takes bodies off says; None where there is no such layer, as in a test."""
    scope = getattr(request, "scope", None)
    return None if scope is None else scope.get(STATE)


def _wanted(request: HttpRequest) -> Wanted:
    names = ("Content-Range", "Upload-Offset", "Upload-Complete")
    return wanted_of(*(request.headers.get(name, "") for name in names))


def _arrived(request: HttpRequest, path: Path, wanted: Wanted) -> int:
    """The bytes that are here, the body's included. Raises `Refused`."""
    state = _state(request)
    if state is None:
        return append(path, wanted, blocks_of(request))  # type: ignore[arg-type]  # a request can be read as a file
    refused = state.get("refused")
    if isinstance(refused, Refused):
        raise refused
    received = state.get("received")
    if not isinstance(received, int):
        raise Refused(409, "The file could not be taken. Send it again.", offset_of(path))
    return received


def _kept(path: Path, sha256: str) -> KeptFile:
    """The file under a name of its own. One that is not what its address says goes. Raises `Problem` 409."""
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as stream:
        for block in blocks_of(stream):
            digest.update(block)
            size += len(block)
    if digest.hexdigest() != sha256:
        path.unlink(missing_ok=True)
        raise Problem(
            409,
            f"key: the {size:,} bytes that came have the SHA-256 {digest.hexdigest()}. Nothing was kept; send the file "
            "again from its beginning.",
            headers={"Upload-Offset": "0"},
        )
    name = uuid.uuid4().hex
    path.rename(settings.UPLOADS_DIR / name)
    return KeptFile(name, sha256, size)


@operation(
    router, ["POST"], "/uploads/{key}/answer", {200: ("application/json", {"$struct": UploadRow}, None)}, check=WRITERS
)
def answer(request: HttpRequest, key: Key, said: AnswerBody) -> HttpResponse:
    """Answers what an upload asked for: the model's name, or the run to add to."""
    upload = answer_upload(_found(key, request), said.wishes(), access=access(request))
    hint()
    return one(request, _row(upload, request))


@operation(
    router, ["POST"], "/uploads/{key}/stop", {200: ("application/json", {"$struct": UploadRow}, None)}, check=WRITERS
)
def stop(request: HttpRequest, key: Key) -> HttpResponse:
    """Stops an upload that is not finished. What was stored stays."""
    upload = _found(key, request)
    stop_upload(upload)
    return one(request, _row(upload, request))


@operation(
    router, ["POST"], "/uploads/{key}/retry", {200: ("application/json", {"$struct": UploadRow}, None)}, check=WRITERS
)
def retry(request: HttpRequest, key: Key) -> HttpResponse:
    """Puts a stopped upload back to work, from its last stored part."""
    upload = _found(key, request)
    retry_upload(upload)
    hint()
    return one(request, _row(upload, request))
