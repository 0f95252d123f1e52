"""The shipped demo data: genuine rows, of the promised shape, and the same as the generator in the code writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest
import zstandard

from runs.bundles import read_rows
from runs.bundles.run_metadata import read_run_metadata
from runs.demo import BENCHMARK, bundles, tooling
from runs.demo.__main__ import main
from runs.demo.benchmark import REPETITIONS, SLUG, TASKS, tools_of
from runs.demo.grader import required_states
from runs.demo.models import MODELS
from runs.demo.rows import file_name, rows, run_metadata
from runs.demo.states import positional_diff, stable, state_hash
from runs.demo.world import fresh, policy
from runs.grading import grade
from runs.records import AttemptRecord, EffectKind, GradedAttempt, Problem, StepKind

_LONGEST_LINE = 32 << 20
_GRADED = {EffectKind.WRONG, EffectKind.MISSING, EffectKind.EXTRA}


class Attempt(NamedTuple):
    model: str
    row: dict[str, Any]
    record: AttemptRecord
    graded: GradedAttempt


@pytest.fixture(scope="module")
def texts() -> dict[str, bytes]:
    """Model → its uncompressed result file."""
    found = {}
    for bundle in bundles():
        with bundle.path.open("rb") as stream:
            found[bundle.model] = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(stream).read()
    return found


@pytest.fixture(scope="module")
def attempts() -> list[Attempt]:
    found = []
    for bundle in bundles():
        with bundle.path.open("rb") as stream:
            reader, lines = read_rows(stream, name=bundle.path.name, max_line=_LONGEST_LINE)
            for line in lines:
                assert not isinstance(line, Problem), line
                record = reader.read(line.text).record
                found.append(Attempt(bundle.model, msgspec.json.decode(line.text), record, grade(record)))
    return found


def _named(attempts: list[Attempt], model: str, test: str) -> Iterator[Attempt]:
    return (entry for entry in attempts if entry.model == model and entry.record.uid.endswith(f":{test}"))


def test_the_generator_writes_the_shipped_files(texts: dict[str, bytes]) -> None:
    for model, bundle in zip(MODELS, bundles(), strict=True):
        assert (bundle.model, bundle.path.name) == (model.name, f"{file_name(model)}.zst")
        assert b"".join(row + b"\n" for row in rows(model)) == texts[model.name], model.name
        assert bundle.metadata_path.read_text("utf-8") == run_metadata(model)


def test_the_files_are_named_for_the_loader() -> None:
    assert {(bundle.benchmark, bundle.repetitions) for bundle in bundles()} == {(BENCHMARK, REPETITIONS)}
    assert all(bundle.path.name.startswith(f"{SLUG}.") for bundle in bundles())


def test_the_files_are_small(texts: dict[str, bytes]) -> None:
    assert sum(bundle.path.stat().st_size for bundle in bundles()) < 1_500_000
    assert sum(len(text) for text in texts.values()) < 60_000_000


def test_the_command_wants_one_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err == "Give one folder: python -m runs.demo FOLDER\n"


def test_run_metadata_names_the_model() -> None:
    headers = [read_run_metadata(bundle.metadata_path.read_bytes()) for bundle in bundles()]
    assert [header and header.model for header in headers] == ["marlow-3-pro", "tansy-flash", "ovenbird-7b"]


def test_verdicts(attempts: list[Attempt]) -> None:
    counts: dict[str, Counter[str]] = {}
    for entry in attempts:
        verdict = entry.record.reason.value if entry.record.reason else entry.record.verdict.value
        counts.setdefault(entry.model, Counter())[verdict] += 1
    assert counts == {
        "marlow-3-pro": {"passed": 209, "failed": 27, "system": 2, "grader": 1, "not_graded": 1},
        "tansy-flash": {"passed": 116, "failed": 119, "system": 3, "grader": 1, "not_graded": 1},
        "ovenbird-7b": {"passed": 121, "failed": 114, "system": 3, "grader": 1, "not_graded": 1},
    }


def test_passes_by_task(attempts: list[Attempt]) -> None:
    """Strong; broad but erratic; narrow but steady."""
    passes = {
        model.name: [sum(e.record.verdict == "passed" for e in _named(attempts, model.name, t.name)) for t in TASKS]
        for model in MODELS
    }
    assert passes == {
        "marlow-3-pro": [20, 20, 17, 16, 9, 20, 20, 15, 18, 20, 20, 14],
        "tansy-flash": [16, 9, 12, 5, 2, 14, 15, 8, 10, 11, 13, 1],
        "ovenbird-7b": [20, 19, 20, 0, 0, 1, 20, 1, 20, 20, 0, 0],
    }


def test_every_repetition_is_there_once(attempts: list[Attempt]) -> None:
    found = Counter((entry.model, entry.record.uid, entry.record.repetition) for entry in attempts)
    wanted = ((model.name, task.uid, number) for model in MODELS for task in TASKS for number in range(REPETITIONS))
    assert found == Counter(wanted)


def test_domains_policies_and_queries(attempts: list[Attempt]) -> None:
    domains = Counter(entry.record.domain for entry in attempts)
    assert domains == {"Rentals": 240, "Workshop": 240, "Accounts": 240}
    for entry in attempts:
        if entry.record.steps:
            assert entry.record.policy == policy(entry.record.domain)
            assert entry.record.query == next(task.query for task in TASKS if task.uid == entry.record.uid)
    for domain in domains:
        assert 300 <= len(policy(domain).split()) <= 600


def test_hashes_and_differences_are_those_of_the_recorded_states(attempts: list[Attempt]) -> None:
    compared = 0
    for entry in attempts:
        for server, effect in ((entry.row["test_context"] or {}).get("effects") or {}).items():
            result, golden = effect["result_db_state"], effect["golden_db_state"]
            assert state_hash(server, result) == effect["result_db_hash"]
            assert state_hash(server, golden) == effect["golden_db_hash"]
            assert positional_diff(stable(server, result), stable(server, golden)) == effect["diff"]
            compared += 1
    assert compared == (720 - 8) * 2


def test_states_differ_where_effects_say_so(attempts: list[Attempt]) -> None:
    for entry in attempts:
        unequal = any(states.after_hash != states.required_hash for states in entry.record.servers.values())
        assert unequal == any(effect.kind in _GRADED for effect in entry.graded.effects), entry.record.uid
        assert not any(server.disagrees or server.duplicates for server in entry.graded.servers)


def test_every_effect_kind_occurs(attempts: list[Attempt]) -> None:
    found = {
        (effect.kind.value, "record" if effect.field is None else "field", effect.touched)
        for entry in attempts
        for effect in entry.graded.effects
    }
    assert found == {
        ("correct", "record", False),
        ("correct", "field", False),
        ("wrong", "record", False),
        ("wrong", "field", False),
        ("missing", "record", False),
        ("missing", "field", False),
        ("missing", "field", True),
        ("extra", "record", False),
        ("extra", "field", False),
        ("ungraded", "field", False),
    }


def test_every_kind_of_message_occurs(attempts: list[Attempt]) -> None:
    messages = [message for entry in attempts for message in entry.row["messages"]]
    assert {message["T"] for message in messages} == {"Text", "ToolCall", "ParallelToolCall", "ToolResponse"}
    assert {(m["role"], m["metadata"].get("tag")) for m in messages if m["T"] == "Text"} == {
        ("system", None),
        ("user", None),
        ("assistant", "think"),
        ("assistant", "text"),
        ("assistant", "direct"),
    }
    steps = [step for entry in attempts for step in entry.record.steps]
    assert {step.kind for step in steps} == {StepKind.MESSAGE, StepKind.THOUGHT, StepKind.CALL}
    assert any(step.dummy for step in steps)
    assert max(len(m.get("tool_calls", [])) for m in messages) >= 4
    assert {entry.record.finish_reason for entry in attempts} == {"done", "end_turn_tool", "user_limit", "agent_limit"}


def test_every_sign_of_a_tool_error_occurs(attempts: list[Attempt]) -> None:
    failed = [step for entry in attempts for step in entry.record.steps if step.error is not None]
    bodies = [step.content or "" for step in failed]
    assert any(body.startswith('{"error": ') for body in bodies)
    assert any(body.startswith("Error: function 'desk_do_request' does not exist") for body in bodies)
    assert any(body.startswith('{"isError": true') for body in bodies)
    assert any(step.error is not None and step.error.startswith("Error: Expecting ','") for step in failed)


def test_long_and_hostile_contents_occur(attempts: list[Attempt]) -> None:
    contents = [step.content or "" for entry in attempts for step in entry.record.steps]
    calls = [step.content or "" for e in attempts for step in e.record.steps if step.name == "catalogue_search"]
    answers = [step.content or "" for entry in attempts for step in entry.record.steps if step.is_agent]
    assert 60_000 < max(map(len, calls)) < 150_000
    assert max(map(len, answers)) > 10_000
    markup = ("<script>alert('demo')</script>", "<b>", "|---|", "✅")
    words = ("点検", "الفاتورة", "Bestellnummer", "excavadora")
    for part in (*markup, *words):
        assert any(part in content for content in contents), part


def test_private_context_is_recorded_for_one_model(attempts: list[Attempt]) -> None:
    told = Counter(entry.model for entry in attempts if entry.record.private_context)
    assert set(told) == {"marlow-3-pro"}
    assert any("Priya Raman of Lantern Street Events" in (entry.record.private_context or "") for entry in attempts)


def test_rubrics_are_judged_until_the_first_no(attempts: list[Attempt]) -> None:
    judged = Counter(
        tuple(judgement["answer"] for judgement in entry.record.test.judgements)
        for entry in attempts
        if entry.record.test is not None and entry.record.test.judgements
    )
    assert set(judged) == {(True, True, True), (True, True, False), (True, False), (False,)}


def test_the_job_that_has_to_wait(attempts: list[Attempt]) -> None:
    """Closed before, closed again after, parked required: written, and the old value put back."""
    first = next(
        entry
        for entry in _named(attempts, "ovenbird-7b", "test_reopened_job_waits_for_part")
        if entry.record.verdict == "failed"
    )
    effect = next(effect for effect in first.graded.effects if effect.field == "status")
    assert (effect.kind, effect.table, effect.key) == (EffectKind.MISSING, "workshop_jobs", "WJ-512")
    assert (effect.before, effect.after, effect.required, effect.touched) == ("closed", "closed", "parked", True)
    writes = [step.index for step in first.record.steps if step.name == "workshop_update_job"]
    assert effect.steps == writes[::-1]
    assert len(writes) == 2


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_tasks_are_sound(task: Any) -> None:
    """The required calls work and change something, all look-ups work, and the refused call is refused."""
    assert required_states(task) != fresh()
    tools = tools_of(task.domain)
    databases = fresh()
    for batch in task.reads:
        for one in batch:
            assert not tooling.call(tools, databases, one.tool, one.arguments).failed
    assert databases == fresh()
    assert tooling.call(tools, databases, task.refused.tool, task.refused.arguments).failed
    assert databases == fresh()
