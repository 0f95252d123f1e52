"""Content-addressed, compressed storage: tables, states and traces in, the same out.

A state is a manifest `{table: digest}`; each table is stored once for all attempts that share it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

import msgspec
import zstandard

from runs.bundles import reader_named
from runs.bundles.base import Part
from runs.canonical import canonical_json, sha256_hex
from runs.claims import Claim
from runs.errorclasses import ErrorDiagnosis
from runs.masking import Secret, mask_bytes, mask_graded
from runs.models import Attempt, Payload, PayloadPart, Provenance, Trace
from runs.records import AttemptRecord, GradedAttempt, Raw, SaidRow
from runs.signatures import Diagnosis

__all__ = [
    "Evidence", "NewPayload", "PartRef", "compress", "decompress", "load_evidence", "load_part", "load_record",
    "load_source", "put_payloads", "put_provenances", "restore_row", "restore_without_parts", "stored_part",
]  # fmt: skip

_LEVEL = 3
_CACHED_DIGESTS = 4096


class PartRef(msgspec.Struct, frozen=True):
    """Where in the row a stored part belongs."""

    path: tuple[str, ...]
    digest: str
    is_state: bool = False
    """The payload is a manifest of tables, not the value itself."""


class Evidence(msgspec.Struct, frozen=True):
    """What is stored beside an attempt's row."""

    graded: GradedAttempt
    parts: list[PartRef] = []
    diagnosis: Diagnosis | None = None
    """Why a failed attempt failed."""
    claim: Claim | None = None
    """What a failed attempt made of itself."""
    error: ErrorDiagnosis | None = None
    """What broke, where the verdict is `error`."""
    masked: dict[str, int] = {}
    """Kind of secret → how many different ones the row has."""
    masked_by: int = 0
    """The version of the rules that counted them; 0: nothing did."""
    masked_at_ingest: bool = False
    """They were masked before the row was stored: it has none any more."""


class NewPayload(msgspec.Struct, frozen=True):
    """A payload on its way into the database. `tables`: the digests that a state's manifest names."""

    digest: str
    text: bytes
    tables: tuple[str, ...] = ()
    secrets: frozenset[Secret] = frozenset()
    """What is masked in it wherever it is shown."""


class _Canonical:
    """Canonical form, digest and secrets of a JSON text, remembered by the text's own hash: the same tables come again
    with each repetition.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, NewPayload] = OrderedDict()

    def of(self, text: bytes) -> NewPayload:
        found = self._known.get(text)
        if found is not None:
            self._known.move_to_end(text)
            return found
        canonical = canonical_json(msgspec.json.decode(text))
        found = NewPayload(sha256_hex(canonical), canonical, secrets=mask_bytes(canonical).found)
        self._known[text] = found
        if len(self._known) > _CACHED_DIGESTS:
            self._known.popitem(last=False)
        return found


_canonical = _Canonical()


def compress(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)


def decompress(data: bytes | memoryview) -> bytes:
    return zstandard.ZstdDecompressor().decompress(bytes(data))


def stored_part(part: Part) -> tuple[PartRef, list[NewPayload]]:
    """A row's part as it is stored: its reference, and the payloads that must exist for it."""
    if part.tables is None:
        payload = _canonical.of(bytes(part.value or b"null"))
        return PartRef(path=part.path, digest=payload.digest), [payload]
    manifest: dict[str, str] = {}
    payloads = []
    for table, raw in part.tables.items():
        payload = _canonical.of(bytes(raw))
        manifest[table] = payload.digest
        payloads.append(payload)
    text = canonical_json(manifest)
    whole = NewPayload(sha256_hex(text), text, tuple(sorted(set(manifest.values()))))
    return PartRef(path=part.path, digest=whole.digest, is_state=True), [*payloads, whole]


def put_payloads(payloads: Iterable[NewPayload]) -> dict[str, int]:
    """Stores what is not there yet and returns digest → id. In digest order, so that two writers cannot deadlock."""
    wanted = {payload.digest: payload for payload in payloads}
    known = _ids(wanted)
    new = [wanted[digest] for digest in sorted(wanted.keys() - known.keys())]
    if not new:
        return known
    Payload.objects.bulk_create(
        [Payload(digest=p.digest, size=len(p.text), data=compress(p.text)) for p in new], ignore_conflicts=True
    )
    known = _ids(wanted)
    links = [PayloadPart(whole_id=known[p.digest], part_id=known[table]) for p in new for table in p.tables]
    PayloadPart.objects.bulk_create(links, ignore_conflicts=True)
    return known


def put_provenances(said: Iterable[SaidRow]) -> dict[str, int]:
    """Stores what is not there yet of what rows say of their origin, and returns digest → id. In digest order, too."""
    wanted = {row.digest: row for row in said}
    if not wanted:
        return {}
    known = _provenance_ids(wanted)
    if new := [wanted[digest] for digest in sorted(wanted.keys() - known.keys())]:
        Provenance.objects.bulk_create(
            [Provenance(digest=row.digest, value=row.value) for row in new], ignore_conflicts=True
        )
        known = _provenance_ids(wanted)
    return known


def _provenance_ids(digests: Iterable[str]) -> dict[str, int]:
    return dict(Provenance.objects.filter(digest__in=list(digests)).values_list("digest", "pk"))


def _ids(digests: Iterable[str]) -> dict[str, int]:
    return dict(Payload.objects.filter(digest__in=list(digests)).values_list("digest", "pk"))


def load_source(trace: Trace) -> bytes:
    """The stored row without its parts, as its reader understands it."""
    return decompress(trace.source)


def load_record(trace: Trace, *, masked: bool = True) -> AttemptRecord:
    """The attempt as its bundle tells it, its secrets masked; without states and tools, which are parts."""
    return reader_named(trace.reader).normalise(_shown(load_source(trace), masked))


def load_evidence(trace: Trace, *, masked: bool = True) -> Evidence:
    """What was found out about the attempt, secrets in it masked, and where its parts are."""
    evidence = msgspec.json.decode(_shown(decompress(trace.evidence), masked), type=Evidence)
    if not masked:
        return evidence
    return msgspec.structs.replace(evidence, graded=mask_graded(evidence.graded))


def load_part(ref: PartRef) -> dict[str, Raw] | Raw:
    """A stored part: table → JSON text for a state, else the JSON text of the value. One or two queries.

    For grading and storing: it is not masked.
    """
    return _load(ref, dict(_texts([ref.digest])))


def restore_without_parts(trace: Trace) -> bytes:
    """The row with null for each of its parts, all else but secrets equal as JSON to what came in."""
    return _shown(reader_named(trace.reader).attach(load_source(trace), {}), masked=True)


def restore_row(attempt: Attempt, *, masked: bool = True) -> bytes:
    """The attempt's row again, equal as JSON to what came in; `masked`: but for its secrets."""
    trace = attempt.trace
    evidence = load_evidence(trace, masked=False)
    texts = dict(_texts(ref.digest for ref in evidence.parts))
    parts: dict[tuple[str, ...], Raw] = {}
    for ref in evidence.parts:
        value = _load(ref, texts)
        parts[ref.path] = Raw(msgspec.json.encode(value)) if isinstance(value, dict) else value
    return _shown(reader_named(trace.reader).attach(load_source(trace), parts), masked)


def _shown(text: bytes, masked: bool) -> bytes:
    """All that is read of a trace for somebody comes through here. What is not masked is for grading it again, for the
    index of words, and for an admin who asks for just that."""
    return mask_bytes(text).text if masked else text


def _load(ref: PartRef, texts: Mapping[str, bytes]) -> dict[str, Raw] | Raw:
    if not ref.is_state:
        return Raw(texts[ref.digest])
    manifest = msgspec.json.decode(texts[ref.digest], type=dict[str, str])
    tables = dict(_texts(manifest.values()))
    return {table: Raw(tables[digest]) for table, digest in manifest.items()}


def _texts(digests: Iterable[str]) -> Iterable[tuple[str, bytes]]:
    for digest, data in Payload.objects.filter(digest__in=set(digests)).values_list("digest", "data"):
        yield digest, decompress(data)
