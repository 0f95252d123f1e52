"""What an agent does in one attempt: the right way with its detours, and each way of going wrong."""

from __future__ import annotations

import random
from typing import NamedTuple

from runs.demo import wording
from runs.demo.episode import Episode
from runs.demo.models import Model
from runs.demo.task import Call, Task

MOST_CUSTOMER_TURNS = 10
MOST_AGENT_TURNS = 40

_WIDE_SEARCH_RATE = 0.12
_MARKUP = (
    "<b>Summary</b><br>{answer}",
    "{answer}",
    "{answer}",
    "{answer}",
)


class Ending(NamedTuple):
    finish_reason: str
    crash: str = ""
    """Name of the system error that ended the attempt; the harness then keeps no result."""


def play(episode: Episode, script: str) -> Ending:
    """Let the agent of an episode follow a script, `kind` or `kind:number`."""
    kind, _, argument = script.partition(":")
    task, rng = episode.task, episode.rng
    if kind == "system" and argument == "setup":
        return Ending("done", crash="setup")
    episode.think(rng.choice(wording.OPENINGS))
    _look_up(episode)
    if kind == "system" and argument == "agent":
        episode.think(rng.choice(task.insights), always=True)
        return Ending("done", crash="agent")
    if kind == "system" and argument == "user":
        episode.say(rng.choice(wording.PHRASES[task.language].ask))
        return Ending("done", crash="user")
    episode.think(rng.choice(task.insights))
    if kind in _ENDINGS_WITHOUT_WRITES:
        return _ENDINGS_WITHOUT_WRITES[kind](episode)
    _ask(episode)
    if kind == "malformed":
        return _malformed(episode)
    if kind == "give_up":
        return _give_up(episode)
    if kind in {"pass", "long", "grader", "not_graded"} and rng.random() < episode.model.slip_back_rate:
        _recover(episode)
    _write(episode, _writes(task, rng, kind, argument))
    if task.optional and rng.random() < 0.3 and kind == "pass":
        episode.call(*task.optional)
    episode.think(rng.choice(wording.CLOSING))
    answer = _final(episode, kind, argument)
    if not task.rubrics and rng.random() < 0.06:
        phrases = wording.PHRASES[task.language]
        episode.say(answer.removesuffix(" <DONE>"))
        episode.customer(phrases.thanks)
        answer = phrases.welcome
    episode.say(answer)
    return Ending("done")


def _look_up(episode: Episode) -> None:
    model, rng = episode.model, episode.rng
    if rng.random() < model.handbook_rate:
        words = " ".join(rng.sample(episode.task.name.removeprefix("test_").split("_"), 2))
        episode.call(Call("handbook_search", {"words": words}))
    for number, batch in enumerate(episode.task.reads):
        if number:
            episode.think(rng.choice(wording.READING).format(tool=batch[0].tool))
        calls = [_widened(one, rng) for one in batch]
        if len(calls) > 1 and rng.random() < 0.25:
            for one in calls:
                episode.call(one)
        else:
            episode.call(*calls)


def _widened(one: Call, rng: random.Random) -> Call:
    """Some agents search the catalogue without a limit and read a hundred kilobytes."""
    if one.tool == "catalogue_search" and rng.random() < _WIDE_SEARCH_RATE:
        return Call(one.tool, {"words": "heater gas event outdoor market"})
    return one


def _ask(episode: Episode) -> None:
    model, rng = episode.model, episode.rng
    phrases = wording.PHRASES[episode.task.language]
    if rng.random() < model.ask_rate:
        episode.say(rng.choice(phrases.ask))
        episode.customer(rng.choice(phrases.agree))
        if rng.random() < 0.15:
            episode.think(rng.choice(episode.task.insights), always=True)
            episode.stall()
            episode.customer(phrases.still_there)


def _recover(episode: Episode) -> None:
    episode.call(episode.task.refused)
    episode.think(episode.rng.choice(wording.SORRY), always=True)


class _Plan(NamedTuple):
    calls: list[Call]
    stray: str = ""
    """The thought that leads astray."""
    at: int = 0
    """The call before which it is thought; the number of calls for: after the last."""


def _writes(task: Task, rng: random.Random, kind: str, argument: str) -> _Plan:
    """The calls that a script makes."""
    worded = [_worded(task, number, rng) for number in range(len(task.writes))]
    number = int(argument) if argument.isdigit() else 0
    if kind == "slip":
        slip = task.slips[number]
        wrong = worded[slip.write]
        values = {**wrong.arguments, **slip.values}
        if wrong.tool == "workshop_update_job" and "status" not in slip.values and "technician" in slip.values:
            del values["status"]
        worded[slip.write] = Call(wrong.tool, values)
        return _Plan(worded, slip.thought, slip.write)
    if kind == "omit":
        return _Plan([one for index, one in enumerate(worded) if index != number], rng.choice(wording.SKIPPING), number)
    if kind == "first":
        return _Plan(worded[:1], rng.choice(wording.SKIPPING), 1)
    if kind == "extra":
        extra = task.extras[number]
        return _Plan([*worded, extra], f"To be thorough I also call {extra.tool}.", len(worded))
    if kind == "other":
        calls, thought = task.others[number]
        return _Plan(list(calls), thought, _parting(task, calls))
    return _Plan(worded)


def _parting(task: Task, calls: tuple[Call, ...]) -> int:
    """Where calls leave the required ones, wordings aside."""
    for number, (one, required) in enumerate(zip(calls, task.writes, strict=False)):
        free = {name for write, name in task.wordings if write == number}
        names = {*one.arguments, *required.arguments} - free
        if one.tool != required.tool or any(one.arguments.get(n) != required.arguments.get(n) for n in names):
            return number
    return min(len(calls), len(task.writes))


def _worded(task: Task, number: int, rng: random.Random) -> Call:
    one = task.writes[number]
    changed = {name: rng.choice(texts) for (write, name), texts in task.wordings.items() if write == number}
    return Call(one.tool, {**one.arguments, **changed})


def _write(episode: Episode, plan: _Plan) -> None:
    rng = episode.rng
    if episode.model.parallel and rng.random() < 0.2:
        if plan.stray:
            episode.think(plan.stray, always=True)
        episode.call(*plan.calls)
        return
    for number, one in enumerate(plan.calls):
        if plan.stray and number == plan.at:
            episode.think(plan.stray, always=True)
        else:
            episode.think(rng.choice(wording.WRITING).format(tool=one.tool))
        episode.call(one)
    if plan.stray and plan.at >= len(plan.calls):
        episode.think(plan.stray, always=True)


def _final(episode: Episode, kind: str, argument: str) -> str:
    task, rng = episode.task, episode.rng
    if kind == "spoiled":
        return task.spoiled[int(argument)].answer
    answer = rng.choice(task.answers)
    if kind == "long":
        return _loading_list(answer)
    if not task.rubrics:
        return rng.choice(_MARKUP).format(answer=answer)
    return answer


def _loading_list(answer: str) -> str:
    """A final answer that goes on and on."""
    rows = []
    for number in range(1, 161):
        minutes, heater = number * 3, number % 4 + 1
        clock = f"{minutes // 60 + 6:02d}:{minutes % 60:02d}"
        rows.append(
            f"| {clock} | stall {number} | heater {heater} | bottle {heater} | hose, regulator, tip-over switch |"
        )
    head = "## Loading and safety round, North Row\n\n| time | place | heater | gas | look at |\n|---|---|---|---|---|"
    return f"{head}\n{chr(10).join(rows)}\n\n{answer}"


def _no_action(episode: Episode) -> Ending:
    episode.think(episode.rng.choice(wording.SKIPPING), always=True)
    episode.say(episode.rng.choice(episode.task.answers))
    return Ending("done")


def _user_limit(episode: Episode) -> Ending:
    phrases = wording.PHRASES[episode.task.language]
    for turn in range(MOST_CUSTOMER_TURNS):
        episode.say(phrases.probe[turn % len(phrases.probe)])
        episode.customer(episode.rng.choice(phrases.shrug))
    episode.say(episode.rng.choice(phrases.probe))
    return Ending("user_limit")


def _loop(episode: Episode) -> Ending:
    batches = episode.task.reads
    for turn in range(MOST_AGENT_TURNS - len(batches)):
        batch = batches[turn % len(batches)]
        episode.think(episode.rng.choice(wording.READING).format(tool=batch[0].tool))
        episode.call(batch[0])
    return Ending("agent_limit")


def _hand_over(episode: Episode) -> Ending:
    reason = "I am not sure what the house rules want here, so a person should decide."
    episode.think("This looks like a decision for a person.", always=True)
    episode.hand_over(reason)
    return Ending("end_turn_tool")


def _empty(episode: Episode) -> Ending:
    episode.say_nothing()
    episode.customer(wording.PHRASES[episode.task.language].still_there)
    episode.say(episode.rng.choice(episode.task.answers))
    return Ending("done")


def _malformed(episode: Episode) -> Ending:
    first = episode.task.writes[0]
    episode.think(episode.rng.choice(wording.WRITING).format(tool=first.tool), always=True)
    episode.broken_call(first.tool, episode.rng.randrange(40, 75))
    episode.think("That was not valid. There must be a tool that does it all at once.", always=True)
    episode.call(Call("desk_do_request", {"request": episode.task.query[:80]}))
    episode.think(episode.rng.choice(wording.GIVING_UP), always=True)
    episode.say(episode.rng.choice(episode.task.answers))
    return Ending("done")


def _give_up(episode: Episode) -> Ending:
    episode.think(episode.rng.choice(wording.WRITING).format(tool=episode.task.refused.tool))
    episode.call(episode.task.refused)
    episode.think(episode.rng.choice(wording.GIVING_UP), always=True)
    episode.say(episode.rng.choice(wording.PHRASES[episode.task.language].failed))
    return Ending("done")


_ENDINGS_WITHOUT_WRITES = {
    "no_action": _no_action,
    "user_limit": _user_limit,
    "loop": _loop,
    "hand_over": _hand_over,
    "empty": _empty,
}


def episode_of(model: Model, task: Task, repetition: int) -> Episode:
    """A fresh episode whose every choice follows from these three."""
    return Episode(model, task, random.Random(f"{model.name}/{task.name}/{repetition}"))
