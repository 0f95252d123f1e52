"""Token counts as providers report them, and how their cached tokens are to be read.

OpenAI-style usage counts cached tokens inside input tokens; Anthropic-style usage counts them beside. Reading the one
as the other prices tokens twice, or not at all, so it is decided and said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from runs.records import Usage

__all__ = ["Tokens", "UsageStyle", "detect_style", "read_usage", "style_of_keys"]


class UsageStyle(StrEnum):
    CACHED_IN_INPUT = "cached_in_input"
    """OpenAI-style: cached tokens are a part of input tokens."""
    CACHED_BESIDE_INPUT = "cached_beside_input"
    """Anthropic-style: input tokens are those that came from no cache, and went to none."""

    @property
    def sentence(self) -> str:
        if self is UsageStyle.CACHED_IN_INPUT:
            return "Cached tokens are counted inside input tokens (OpenAI-style usage)."
        return "Cached tokens are counted beside input tokens (Anthropic-style usage)."


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Counts as recorded, of one model call or a sum of several. Reasoning tokens are a part of output tokens."""

    input: int = 0
    cached: int = 0
    """Read from a cache."""
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    def __post_init__(self) -> None:
        if min(self.input, self.cached, self.cache_write, self.output, self.reasoning) < 0:
            raise ValueError("A number of tokens cannot be negative.")

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            input=self.input + other.input,
            cached=self.cached + other.cached,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )

    @classmethod
    def of(cls, usage: Usage) -> Tokens:
        return cls(
            input=usage.input,
            cached=usage.cached,
            cache_write=usage.cache_write,
            output=usage.output,
            reasoning=usage.reasoning,
        )

    def fresh(self, style: UsageStyle) -> int:
        """Input tokens that are billed at the input price. Never negative."""
        if style is UsageStyle.CACHED_BESIDE_INPUT:
            return self.input
        return max(0, self.input - self.cached - self.cache_write)


def detect_style(counts: Iterable[Tokens]) -> UsageStyle:
    """The style of usage of which only counts are known; all of it has one style.

    A part cannot be larger than the whole: one call with more cached than input tokens shows that they lie beside.
    Where no call does, they are taken as a part of input, as the harness records them.
    """
    beside = any(tokens.cached + tokens.cache_write > tokens.input for tokens in counts)
    return UsageStyle.CACHED_BESIDE_INPUT if beside else UsageStyle.CACHED_IN_INPUT


def style_of_keys(usage: Mapping[str, Any]) -> UsageStyle | None:
    """The style that the names in a provider's usage object tell; None where they tell nothing."""
    if "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage:
        return UsageStyle.CACHED_BESIDE_INPUT
    if "input_tokens_details" in usage or "prompt_tokens_details" in usage or "prompt_tokens" in usage:
        return UsageStyle.CACHED_IN_INPUT
    return None


def read_usage(usage: Mapping[str, Any]) -> tuple[Tokens, UsageStyle]:
    """A provider's usage object of one call, in any of the three spellings; what is absent counts as 0."""
    inside = _object(usage.get("input_tokens_details") or usage.get("prompt_tokens_details"))
    outside = _object(usage.get("output_tokens_details") or usage.get("completion_tokens_details"))
    tokens = Tokens(
        input=_count(usage.get("input_tokens", usage.get("prompt_tokens"))),
        cached=_count(usage.get("cache_read_input_tokens", inside.get("cached_tokens"))),
        cache_write=_count(usage.get("cache_creation_input_tokens", inside.get("cache_write_tokens"))),
        output=_count(usage.get("output_tokens", usage.get("completion_tokens"))),
        reasoning=_count(outside.get("reasoning_tokens")),
    )
    return tokens, style_of_keys(usage) or detect_style([tokens])


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
