"""What rules and labels look at, found once for an attempt."""

from __future__ import annotations

from functools import cached_property

from runs.records import AttemptRecord, GradedAttempt, Step, Tool
from runs.shared_objects import ByObject
from runs.signatures.claiming import claimed_success
from runs.signatures.endings import Ending, read_ending
from runs.signatures.lookups import empty_lookups, repeated_calls
from runs.signatures.outcomes import Outcome, state_changed, state_outcome
from runs.signatures.toolcalls import ToolError, answered, ran, tool_errors

__all__ = ["Facts"]


def _all_names(tools: list[Tool]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools)


def _names_that_end(tools: list[Tool]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools if tool.ends_turn)


_names = ByObject(_all_names, most=32)
_ending_names = ByObject(_names_that_end, most=32)


class Facts:
    """One attempt seen from the side of its failure. Each fact is computed when it is first asked for."""

    def __init__(self, record: AttemptRecord, graded: GradedAttempt) -> None:
        self.record = record
        self.graded = graded
        self.write_steps = frozenset(graded.write_steps)
        """Steps that called a state-changing tool, whatever came of it."""

    @cached_property
    def by_index(self) -> dict[int, Step]:
        return {step.index: step for step in self.record.steps}

    @property
    def offered(self) -> frozenset[str]:
        return _names(self.record.tools)

    @cached_property
    def errors(self) -> list[ToolError]:
        return tool_errors(
            self.record.steps,
            write_steps=self.write_steps,
            offered=self.offered,
            ending_tools=_ending_names(self.record.tools),
        )

    @cached_property
    def unrepaired(self) -> list[ToolError]:
        return [error for error in self.errors if error.repaired_by is None]

    @cached_property
    def writes_run(self) -> list[int]:
        """Steps whose state-changing call reached its tool, whether the tool did it or refused."""
        steps = (self.by_index.get(index) for index in self.graded.write_steps)
        return [step.index for step in steps if step is not None and ran(step, offered=self.offered)]

    @cached_property
    def writes_done(self) -> list[int]:
        """Steps whose state-changing call was answered without an error."""
        steps = (self.by_index.get(index) for index in self.graded.write_steps)
        return [step.index for step in steps if step is not None and answered(step)]

    @cached_property
    def wrote(self) -> bool:
        """Whether anything was, or may have been, written: by a call, or as the states show."""
        return bool(self.writes_run) or state_changed(self.graded.effects)

    @cached_property
    def state(self) -> Outcome:
        return state_outcome(self.graded)

    @cached_property
    def ending(self) -> Ending:
        return read_ending(self.record.steps)

    @cached_property
    def claim(self) -> tuple[int, int] | None:
        """Where the final message says that the work is done."""
        return claimed_success(self.ending.text)

    @cached_property
    def empty_lookups(self) -> list[int]:
        return empty_lookups(self.record.steps, write_steps=self.write_steps)

    @cached_property
    def repeated_calls(self) -> list[int]:
        return repeated_calls(self.record.steps, write_steps=self.write_steps)
