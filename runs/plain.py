"""An attempt as somebody may read it who must not learn what the task requires: what was said, done and changed."""

from __future__ import annotations

import msgspec

from runs.records import AttemptRecord, ServerStates

__all__ = ["plain_record"]


def plain_record(record: AttemptRecord) -> AttemptRecord:
    """The record without required states, checks, the grader's words, private context and whatever the harness added.

    What was there before stands as what is required, so that grading such a record finds each change and nothing else.
    Without a recorded `before`, nothing is left to compare.
    """
    return msgspec.structs.replace(
        record,
        servers={name: _changed(states) for name, states in record.servers.items()},
        private_context=None,
        test=None,
        error=None,
        error_traceback="",
        tags={},
        metadata={},
        notes=[],
    )


def _changed(states: ServerStates) -> ServerStates:
    if states.before is None or states.after is None:
        return ServerStates()
    return ServerStates(before=states.before, after=states.after, required=states.before)
