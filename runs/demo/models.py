# ruff: noqa: E501 - one task a line in the plans
"""The three models, and what each of them does in every repetition of every task."""

from __future__ import annotations

import random
from typing import NamedTuple

from runs.demo.benchmark import REPETITIONS
from runs.demo.task import Task


class Model(NamedTuple):
    """A scripted model. The rates are shares of its attempts."""

    name: str
    started_at: str
    think_rate: float
    ask_rate: float
    slip_back_rate: float
    """Makes a call that is refused, and recovers."""
    handbook_rate: float
    parallel: bool
    bare_calls: bool
    """Its single calls come without a batch around them."""
    private_context: bool
    """The conversation with the simulated customer is recorded."""
    tokens_per_second: int
    plan: dict[str, dict[str, int]]
    """Task name → script → how many of the repetitions; all other repetitions pass."""

    def scripts(self, task: Task) -> list[str]:
        """What the model does in each repetition of a task."""
        planned = self.plan.get(task.name, {})
        scripts = [script for script, times in planned.items() for _ in range(times)]
        scripts += ["pass"] * (REPETITIONS - len(scripts))
        random.Random(f"{self.name}/{task.name}").shuffle(scripts)
        return scripts


MODELS: tuple[Model, ...] = (
    Model(
        name="marlow-3-pro",
        started_at="2026-03-18T07:30:00.120000Z",
        think_rate=0.9,
        ask_rate=0.3,
        slip_back_rate=0.08,
        handbook_rate=0.35,
        parallel=True,
        bare_calls=False,
        private_context=True,
        tokens_per_second=85,
        plan={
            "test_early_return_minimum_hire": {"extra:0": 3},
            "test_add_heaters_to_market": {"long": 1, "slip:0": 2, "system:agent": 1, "other:0": 1},
            "test_reopened_job_waits_for_part": {"other:0": 9, "slip:2": 1, "other:1": 1},
            "test_meter_dispute": {"spoiled:0": 3, "spoiled:1": 1, "grader:judge": 1},
            "test_settle_deposit_after_damage": {"omit:2": 1, "system:user": 1},
            "test_new_hire_while_on_stop": {"spoiled:0": 1, "spoiled:1": 1, "omit:1": 2, "other:0": 1, "not_graded": 1},
        },
    ),
    Model(
        name="tansy-flash",
        started_at="2026-03-18T09:05:00.480000Z",
        think_rate=0.45,
        ask_rate=0.4,
        slip_back_rate=0.22,
        handbook_rate=0.2,
        parallel=True,
        bare_calls=False,
        private_context=False,
        tokens_per_second=210,
        plan={
            "test_extend_scissor_lift": {"slip:0": 1, "slip:1": 1, "omit:2": 1, "system:agent": 1},
            "test_swap_tripping_generator": {"slip:0": 2, "slip:1": 3, "slip:2": 2, "slip:3": 1, "first": 1, "omit:3": 1, "other:0": 1},
            "test_early_return_minimum_hire": {"extra:0": 3, "slip:0": 1, "slip:2": 1, "other:0": 1, "give_up": 1, "omit:1": 1},
            "test_add_heaters_to_market": {"slip:0": 4, "slip:1": 2, "slip:2": 1, "other:0": 2, "omit:1": 2, "extra:0": 1, "loop": 1, "no_action": 1, "not_graded": 1},
            "test_reopened_job_waits_for_part": {"other:0": 8, "other:1": 4, "slip:0": 2, "slip:1": 1, "omit:1": 2, "hand_over": 1},
            "test_book_hoist_inspection": {"slip:0": 2, "slip:1": 1, "omit:2": 2, "extra:1": 1},
            "test_assign_and_reserve_mast_chain": {"slip:0": 2, "malformed": 1, "give_up": 1, "extra:0": 1},
            "test_meter_dispute": {"spoiled:0": 3, "spoiled:1": 2, "slip:0": 1, "slip:1": 2, "spoiled:2": 1, "grader:judge": 1, "user_limit": 1, "empty": 1},
            "test_settle_deposit_after_damage": {"omit:1": 3, "omit:2": 2, "slip:0": 1, "slip:1": 1, "slip:3": 1, "first": 1, "system:user": 1},
            "test_reissue_with_order_number": {"other:0": 3, "slip:0": 3, "slip:2": 1, "extra:1": 1, "malformed": 1},
            "test_credit_duplicate_invoice": {"slip:0": 2, "extra:0": 2, "other:0": 1, "slip:3": 1, "system:setup": 1},
            "test_new_hire_while_on_stop": {"other:0": 4, "extra:0": 3, "spoiled:0": 2, "spoiled:2": 2, "slip:0": 3, "omit:1": 3, "no_action": 1, "hand_over": 1},
        },
    ),
    Model(
        name="ovenbird-7b",
        started_at="2026-03-18T11:40:00.760000Z",
        think_rate=0.7,
        ask_rate=0.12,
        slip_back_rate=0.04,
        handbook_rate=0.0,
        parallel=False,
        bare_calls=True,
        private_context=False,
        tokens_per_second=140,
        plan={
            "test_swap_tripping_generator": {"slip:1": 1},
            "test_add_heaters_to_market": {"slip:0": 11, "omit:1": 6, "loop": 2, "system:agent": 1},
            "test_reopened_job_waits_for_part": {"other:0": 18, "slip:2": 1, "grader:test": 1},
            "test_book_hoist_inspection": {"omit:2": 12, "slip:3": 3, "give_up": 4},
            "test_meter_dispute": {"spoiled:1": 12, "slip:1": 4, "user_limit": 2, "not_graded": 1},
            "test_credit_duplicate_invoice": {"give_up": 10, "slip:0": 5, "no_action": 3, "empty": 1, "system:user": 1},
            "test_new_hire_while_on_stop": {"omit:1": 12, "no_action": 4, "hand_over": 2, "slip:2": 1, "system:setup": 1},
        },
    ),
)  # fmt: skip
