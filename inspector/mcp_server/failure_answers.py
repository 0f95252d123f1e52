"""What the tools about failures answer, and how it reads."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from inspector.mcp_server.budget import Answer, Listed, Part
from inspector.mcp_server.quoting import QUOTED, counted, place_of, quote

__all__ = [
    "FailureCount",
    "FailureSummary",
    "FoundAttempts",
    "FoundDifference",
    "FoundGroup",
    "FoundLine",
    "WrongField",
]


def _value(text: str) -> str:
    return quote(text) if text else "not there"


class FoundDifference(Part):
    kind: str
    table: str
    key: str = ""
    field: str = Field(description="Empty: a whole row.")
    after: str = Field(description="The value, maybe cut; empty: not there.")
    required: str

    def told(self) -> str:
        key = f" key {quote(self.key)}" if self.key else ""
        values = f": is {_value(self.after)}, required {_value(self.required)}"
        return f"{self.kind} {quote(place_of(self.table, self.field))}{key}{values if self.field else ' (whole row)'}"


class FoundLine(Part):
    attempt: int
    run: str
    task: str
    domain: str
    repetition: int
    verdict: str
    signature: str | None = Field(
        description="Null where it is not shown: to a viewer, and among attempts of another verdict."
    )
    finish_reason: str
    steps: int
    differences: int | None
    first_difference: FoundDifference | None
    claim: str | None = Field(
        description="The agent's last message, or its beginning, quoted. Null where `signature` is not shown."
    )
    excerpts: list[str] = Field(description="Where the words were found, quoted.")

    def told(self) -> str:
        facts = [self.signature or self.verdict, counted(self.steps, "step")]
        if not self.signature and self.finish_reason:
            facts.append(f"finished with {quote(self.finish_reason)}")
        if self.differences is not None:
            facts.append(counted(self.differences, "difference"))
        place = f"attempt {self.attempt} of run {self.run}: {quote(self.task)} repetition {self.repetition}"
        lines = f"{place}, {', '.join(facts)}"
        if self.first_difference is not None:
            lines += f"; first: {self.first_difference.told()}"
        if self.claim:
            lines += f"; claims {quote(self.claim)}"
        return "; found ".join([lines, *(quote(excerpt) for excerpt in self.excerpts)])


class FoundGroup(Part):
    """Attempts with the same first difference, or at the same task."""

    difference: FoundDifference | None
    task: str
    attempts: int
    tasks: int
    examples: list[int] = Field(description="Ids of the first few attempts.")

    def told(self) -> str:
        examples = ", ".join(map(str, self.examples))
        what = self.difference.told() if self.difference else quote(self.task) if self.task else "no difference"
        return (
            f"{counted(self.attempts, 'attempt')} at {counted(self.tasks, 'task')}: {what}; such as attempts {examples}"
        )


class FailureCount(Part):
    value: str = Field(description="To filter by, as it is.")
    title: str
    count: int

    def told(self) -> str:
        title = f" ({self.title})" if self.title != self.value else ""
        return f"{quote(self.value)}{title} {self.count:,}"


_NOUNS = {"failed": "failed attempt", "passed": "passed attempt", "error": "broken attempt", "any": "attempt"}


class FoundAttempts(Listed):
    WHOLE: ClassVar[str] = "attempt_outline(attempt) shows one attempt."
    LISTS: ClassVar[dict[str, str]] = {
        "values": "The page of failures lists all.",
        "found": "find_attempts with the same filters and offset={next} goes on.",
    }
    verdict: str = Field(description="Of which verdict: failed, passed, error, or any.")
    attempts: int = Field(description="Attempts that fit; `total` counts groups where they are grouped.")
    tasks: int = Field(description="Tasks that they are at.")
    values: list[FailureCount] = Field(description="Values of the facet asked for with `values_of`, with counts.")
    found: list[FoundLine | FoundGroup]

    def lines(self) -> list[str]:
        lines = [
            f"{counted(self.attempts, _NOUNS[self.verdict])} at {counted(self.tasks, 'task')} fit; "
            f"{self.window('entries')}"
        ]
        if self.values:
            lines.append("values: " + ", ".join(value.told() for value in self.values))
        return [*lines, *(f"- {one.told()}" for one in self.found), QUOTED]


class WrongField(Part):
    field: str = Field(description="`table.field`, as find_attempts(field=…) takes it.")
    kind: str
    attempts: int
    tasks: int
    after: str = Field(description="Of the most frequent pair of values.")
    required: str

    def told(self) -> str:
        return (
            f"{self.kind} {quote(self.field)} in {counted(self.attempts, 'attempt')} at {counted(self.tasks, 'task')}; "
            f"most often is {_value(self.after)}, "
            f"required {_value(self.required)}"
        )


class FailureSummary(Answer):
    WHOLE: ClassVar[str] = "find_attempts(run=…) lists the attempts themselves."
    LISTS: ClassVar[dict[str, str]] = {
        "errors": "run_report(run) counts them.",
        "fields": "find_attempts(run, values_of='field') lists all.",
        "erring_tools": "find_attempts(run, values_of='erred') lists all.",
        "domains": "find_attempts(run, values_of='domain') lists all.",
        "same_mistakes": "find_attempts(run, group='same', offset={next}) goes on.",
    }
    run: str
    domain: str = Field(description="Empty: all domains.")
    failed: int
    tasks: int = Field(description="Tasks with a failed attempt.")
    looked_like_success: int = Field(description="Ended cleanly after a state-changing call, last response no error.")
    claimed_success: int
    signatures: list[FailureCount]
    domains: list[FailureCount]
    erring_tools: list[FailureCount] = Field(description="Tools that erred in failed attempts.")
    fields: list[WrongField] = Field(description="Fields that differ from the required state, whole run only.")
    errors: list[FailureCount] = Field(description="System and grader errors by class, whole run only; no failures.")
    same_mistakes: list[FoundGroup] = Field(description="Attempts by their first difference, most frequent first.")

    def lines(self) -> list[str]:
        where = f" in domain {quote(self.domain)}" if self.domain else ""
        lines = [
            f"{self.run}{where}: {counted(self.failed, 'failed attempt')} at {counted(self.tasks, 'task')}; "
            f"{self.looked_like_success:,} looked like a success, {self.claimed_success:,} claimed it"
        ]
        for title, counts in (
            ("why (signature)", self.signatures),
            ("by domain", self.domains),
            ("tools that erred", self.erring_tools),
            ("errors, which are no failures", self.errors),
        ):
            if counts:
                lines.append(f"{title}: " + ", ".join(count.told() for count in counts))
        if self.same_mistakes:
            lines += ["the same first difference:", *(f"- {group.told()}" for group in self.same_mistakes)]
        if self.fields:
            lines += ["fields:", *(f"- {field.told()}" for field in self.fields)]
        return [*lines, QUOTED]
