"""What workers do between a message and the database."""

from __future__ import annotations

from threading import Event

import pytest
from celery.signals import worker_shutting_down

from runs import search, tasks


@pytest.fixture(autouse=True)
def _not_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_ending", Event())


def test_a_worker_does_chunks_until_none_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    waiting = ["first", "second", "third"]
    monkeypatch.setattr(tasks, "claim_next", lambda: waiting.pop(0) if waiting else None)
    monkeypatch.setattr(tasks, "do_chunk", done.append)
    monkeypatch.setattr(tasks, "keep_some", lambda: False)
    monkeypatch.setattr(search, "index_some", lambda: 0)
    tasks.work()
    assert (done, waiting) == (["first", "second", "third"], [])


def test_transcripts_are_indexed_while_no_chunk_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    waiting = [None, "chunk", None, None]
    slices = [100, 40, 0]

    def index() -> int:
        done.append(f"{slices[0]} transcripts")
        return slices.pop(0)

    monkeypatch.setattr(tasks, "claim_next", lambda: waiting.pop(0))
    monkeypatch.setattr(tasks, "do_chunk", done.append)
    kept = [True, False, False, False]
    monkeypatch.setattr(tasks, "keep_some", lambda: kept.pop(0))
    monkeypatch.setattr(search, "index_some", index)
    waiting.insert(0, None)
    tasks.work()
    assert done == ["100 transcripts", "chunk", "40 transcripts", "0 transcripts"]


@pytest.mark.parametrize(("given_back", "hints"), [(0, 0), (2, 1)])
def test_a_successor_tells_of_what_it_gave_back(monkeypatch: pytest.MonkeyPatch, given_back: int, hints: int) -> None:
    told: list[str] = []
    monkeypatch.setattr(tasks, "succeed", lambda place: given_back)
    monkeypatch.setattr(tasks.work, "delay", lambda: told.append("work"))
    tasks.succeed_in("one")
    assert len(told) == hints


def test_a_worker_that_is_told_to_end_finishes_its_chunk_and_claims_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    waiting = ["first", "second", "third"]

    def do(chunk: str) -> None:
        worker_shutting_down.send(sender="worker", sig="SIGTERM", how="Warm", exitcode=0)
        done.append(chunk)

    monkeypatch.setattr(tasks, "claim_next", lambda: waiting.pop(0) if waiting else None)
    monkeypatch.setattr(tasks, "do_chunk", do)
    tasks.work()
    assert (done, waiting) == (["first"], ["second", "third"])
