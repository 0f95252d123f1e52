"""Content-addressed, compressed storage: tables, states and traces in, the same out.

A state is a manifest `{table: digest}`; each table is stored once for all attempts that share it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping

import msgspec
import zstandard

from runs.bundles import reader_named
from runs.bundles.base import Part
from runs.canonical import canonical_json, sha256_hex
from runs.claims import Claim
from runs.databases import add_links, add_payloads, held_payloads
from runs.dictionaries import decompress_with
from runs.errorclasses import ErrorDiagnosis
from runs.masking import Secret, mask_bytes, mask_graded
from runs.models import Attempt, Payload, Provenance, Trace
from runs.records import AttemptRecord, GradedAttempt, Raw, SaidRow
from runs.shared_objects import ByObject
from runs.signatures import Diagnosis

__all__ = [
    "Evidence", "KnownTexts", "NewPayload", "PartRef", "compress", "decompress", "load_evidence", "load_part",
    "load_record", "load_source", "put_payloads", "put_provenances", "restore_row", "restore_without_parts",
    "stored_part",
]  # fmt: skip

_LEVEL = 3
_CACHED_DIGESTS = 2048


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
    """A payload on its way into the database. `tables`: what a state's manifest names."""

    digest: str
    text: bytes
    tables: tuple[NewPayload, ...] = ()
    secrets: frozenset[Secret] = frozenset()
    """What is masked in it wherever it is shown; of a state, in its tables."""


class _Canonical:
    """Payload of a JSON text, remembered by the text's own hash: the same tables come again with each repetition."""

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


def _whole(tables: Mapping[str, Raw]) -> NewPayload:
    """The manifest of a state."""
    payloads = {table: _canonical.of(bytes(raw)) for table, raw in tables.items()}
    text = canonical_json({table: payload.digest for table, payload in payloads.items()})
    parts = {payload.digest: payload for payload in payloads.values()}
    secrets: frozenset[Secret] = frozenset().union(*(payload.secrets for payload in parts.values()))
    return NewPayload(sha256_hex(text), text, tuple(parts[digest] for digest in sorted(parts)), secrets)


_state = ByObject(_whole, most=64)
_value: ByObject[Raw, NewPayload] = ByObject(lambda text: _canonical.of(bytes(text)), most=64)
_NULL = Raw(b"null")


# A compressor is not safe for two threads at once, and making one costs as much as a small text.
_local = threading.local()


def compress(data: bytes) -> bytes:
    compressor: zstandard.ZstdCompressor | None = getattr(_local, "compressor", None)
    if compressor is None:
        compressor = _local.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    return compressor.compress(data)


def decompress(data: bytes | memoryview) -> bytes:
    return zstandard.ZstdDecompressor().decompress(bytes(data))


def stored_part(part: Part) -> tuple[PartRef, NewPayload]:
    """A row's part as it is stored: its reference, and the payload that must exist for it."""
    if part.tables is None:
        value = _value(part.value if part.value is not None else _NULL)
        return PartRef(path=part.path, digest=value.digest), value
    whole = _state(part.tables)
    return PartRef(path=part.path, digest=whole.digest, is_state=True), whole


def put_payloads(payloads: Iterable[NewPayload]) -> dict[str, int]:
    """Stores what is not there yet and returns digest → id of these. In digest order, so that two writers cannot
    deadlock.
    """
    asked = {payload.digest: payload for payload in payloads}
    known = held_payloads(asked)
    # The tables of a stored state are there, as the state refers to them.
    wanted = {digest: asked[digest] for digest in asked.keys() - known.keys()}
    states = [payload for payload in wanted.values() if payload.tables]
    for state in states:
        wanted |= {table.digest: table for table in state.tables}
    known |= held_payloads(wanted.keys() - known.keys()) if states else {}
    # Once is enough, unless somebody removes unused payloads at this very moment.
    while missing := sorted(wanted.keys() - known.keys()):
        new = [wanted[digest] for digest in missing]
        add_payloads((p.digest, len(p.text), compress(p.text)) for p in new)
        known |= held_payloads(missing)
    add_links((known[state.digest], known[table.digest]) for state in states for table in state.tables)
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


def load_source(trace: Trace) -> bytes:
    """The stored row without its parts, as its reader understands it."""
    if trace.dictionary is None:
        return decompress(trace.source)
    return decompress_with(decompress(trace.dictionary.data), bytes(trace.source))


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


def restore_row(attempt: Attempt, known: KnownTexts | None = None, *, masked: bool = True) -> bytes:
    """The attempt's row again, equal as JSON to what came in; `masked`: but for its secrets. `known` keeps what many
    rows share.
    """
    known = KnownTexts() if known is None else known
    trace = attempt.trace
    evidence = load_evidence(trace, masked=False)
    whole = {ref.digest for ref in evidence.parts}
    known.load(whole)
    manifests = {ref: known.tables(ref) for ref in evidence.parts if ref.is_state}
    known.load(whole.union(*(tables.values() for tables in manifests.values())))
    parts = {
        ref.path: _attached(manifests[ref], known) if ref.is_state else Raw(known[ref.digest]) for ref in evidence.parts
    }
    return _shown(reader_named(trace.reader).attach(load_source(trace), parts), masked)


def _shown(text: bytes, masked: bool) -> bytes:
    """All that is read of a trace for somebody comes through here. What is not masked is for grading it again, for the
    index of words, and for an admin who asks for just that."""
    return mask_bytes(text).text if masked else text


def _attached(tables: Mapping[str, str], known: KnownTexts) -> Raw:
    return Raw(msgspec.json.encode({table: Raw(known[digest]) for table, digest in tables.items()}))


class KnownTexts:
    """Payloads that were read, by digest, up to a number of bytes that is exceeded only by one row's own parts."""

    def __init__(self, most_bytes: int = 0) -> None:
        self._most = most_bytes
        self._held = 0
        self._texts: dict[str, bytes] = {}

    def __getitem__(self, digest: str) -> bytes:
        return self._texts[digest]

    def load(self, digests: Iterable[str]) -> None:
        """Reads those that are not at hand, in one query, or in none. Raises KeyError at the use of a missing one."""
        wanted = set(digests)
        missing = wanted - self._texts.keys()
        if not missing:
            return
        if self._held > self._most:
            self._texts = {digest: text for digest, text in self._texts.items() if digest in wanted}
            self._held = sum(map(len, self._texts.values()))
        for digest, text in _texts(missing):
            self._texts[digest] = text
            self._held += len(text)

    def tables(self, ref: PartRef) -> dict[str, str]:
        """A state's manifest: table → digest."""
        return msgspec.json.decode(self[ref.digest], type=dict[str, str])


def _load(ref: PartRef, texts: Mapping[str, bytes]) -> dict[str, Raw] | Raw:
    if not ref.is_state:
        return Raw(texts[ref.digest])
    manifest = msgspec.json.decode(texts[ref.digest], type=dict[str, str])
    tables = dict(_texts(manifest.values()))
    return {table: Raw(tables[digest]) for table, digest in manifest.items()}


def _texts(digests: Iterable[str]) -> Iterable[tuple[str, bytes]]:
    for digest, data in Payload.objects.filter(digest__in=set(digests)).values_list("digest", "data"):
        yield digest, decompress(data)
