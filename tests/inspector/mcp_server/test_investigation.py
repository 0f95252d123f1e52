""" "Why does this run fail in retail?", asked as an agent would: each call takes only what an answer before it gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.mcp_server.attempt_tools import attempt_outline, attempt_steps
from inspector.mcp_server.divergence_tools import first_divergence
from inspector.mcp_server.failure_tools import find_attempts, run_failures
from inspector.mcp_server.run_tools import list_runs
from runs.access import EVERYTHING
from runs.ingest import ingest_file
from runs.upload_files import KeptFile
from runs.uploads import Wishes, new_upload
from tests.inspector.mcp_server.asking import ask

BUNDLE = "five-domains/five-domains.delta-medium"


@pytest.mark.shared
@pytest.mark.django_db
def test_six_calls_lead_from_a_run_to_the_step_and_the_field(shared: Path) -> None:
    path = shared / "bundles" / f"{BUNDLE}.jsonl.zst"
    kept = KeptFile("", "0" * 64, path.stat().st_size)
    wishes = Wishes(model="delta-medium", benchmark="five-domains")
    with path.open("rb") as file:
        ingest_file(new_upload(path.name, kept, wishes=wishes, access=EVERYTHING), file)

    runs = ask(list_runs, search="delta")
    summary = ask(run_failures, run=runs.data["runs"][0]["slug"], domain="retail")
    largest = summary.data["same_mistakes"][0]
    outline = ask(attempt_outline, attempt=largest["examples"][0])
    cause = outline.data["cause_step"]
    steps = ask(attempt_steps, attempt=outline.data["attempt"], first=cause, count=1, characters=4000)
    parted = ask(first_divergence, attempt=outline.data["attempt"])
    place = largest["difference"]
    like = ask(
        find_attempts,
        run=outline.data["run"],
        effect=place["kind"],
        field=f"{place['table']}.{place['field']}",
        task=outline.data["task"],
    )

    # What the bundle's maker put into this attempt.
    lines = (shared / "bundles" / "provoked.jsonl").read_text(encoding="utf-8").splitlines()
    provoked = next(
        made
        for made in map(json.loads, lines)
        if (made["file"], made["uid"], made["repetition"]) == (BUNDLE, outline.data["task"], outline.data["repetition"])
    )
    assert provoked["detail"] == "wrong_value: zendesk_update_item.item.status: 'hold'->'solved'"
    effect = outline.data["first_difference"]
    assert (effect["field"], effect["after"]["text"], effect["required"]["text"]) == ("status", "solved", "hold")
    [step] = steps.data["shown"]
    assert (step["tool"], json.loads(step["parts"][0]["text"])["item"]["status"]) == ("zendesk_update_item", "solved")
    write = parted.data["first_write"]
    assert (write["right"]["step"], "item.status" in write["fields"]) == (cause, True)
    assert [(end["left"]["text"], end["right"]["text"]) for end in parted.data["ends"]] == [("hold", "solved")]
    assert like.data["attempts"] >= largest["attempts"]
    assert max(each.size for each in (runs, summary, outline, steps, parted, like)) < 16_000
