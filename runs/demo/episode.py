"""One attempt as it unfolds: messages, tool calls that really change the records, tokens and time."""

from __future__ import annotations

import random
from typing import Any

from runs.demo import tooling
from runs.demo.benchmark import tools_of
from runs.demo.models import Model
from runs.demo.states import Databases
from runs.demo.task import Call, Task
from runs.demo.world import CONTENT, fresh, instructions, policy

Message = dict[str, Any]
_CHARACTERS_PER_TOKEN = 4
_CACHE_STEP = 128
"""Prompt caches work in blocks of this many tokens."""


class Episode:
    """The transcript so far and the databases behind it. Everything random comes from `rng`."""

    def __init__(self, model: Model, task: Task, rng: random.Random) -> None:
        self.model = model
        self.task = task
        self.rng = rng
        self.databases: Databases = fresh()
        self.messages: list[Message] = []
        self.tool_calls: list[dict[str, Any]] = []
        self.direct: list[str] = []
        self.usage: list[dict[str, Any]] = []
        self.customer_log: list[list[Message]] = []
        self.tool_seconds = 0.0
        self.user_seconds = 0.0
        self.agent_seconds = 0.0
        self._tools = tools_of(task.domain)
        self._seen = 0
        self._cached = 0
        self._said = 0
        self._thought = 0
        self._text("system", instructions())
        self._text("system", policy(task.domain))
        self._text("user", task.query)

    # The customer

    def customer(self, text: str) -> None:
        """The simulated customer answers; what it was told is kept beside the transcript."""
        heard = [
            f"{'Desk' if message['role'] == 'assistant' else 'Customer'}: {message['content']}"
            for message in self.messages
            if message["T"] == "Text" and message["role"] != "system" and message["metadata"].get("tag") != "think"
        ]
        asked = f"Conversation so far:\n{chr(10).join(heard)}\n\nFacts:\n{self.task.context}\n\nWrite the next message."
        self.customer_log.append(
            [
                {
                    "T": "Text",
                    "metadata": {},
                    "role": "system",
                    "content": (CONTENT / "customer.md").read_text("utf-8"),
                },
                {"T": "Text", "metadata": {}, "role": "user", "content": asked},
                {"T": "Text", "metadata": {}, "role": "assistant", "content": text},
            ]
        )
        self.user_seconds += self._seconds(0.6, 2.2)
        self._text("user", text, is_user_llm=True)

    # The agent

    def think(self, text: str, *, always: bool = False) -> None:
        wanted = self.rng.random() < self.model.think_rate
        if not (always or wanted):
            return
        self._thought += len(text)
        last = self.messages[-1]
        if last["T"] == "Text" and last["metadata"].get("tag") == "think":
            last["content"] += f" {text}"  # one model call gives one thought
            self._seen += len(text)
        else:
            self._text("assistant", text, tag="think")

    def say(self, text: str) -> None:
        """A visible message; the harness marks it when it ends with the sign."""
        self._said += len(text)
        self._complete()
        if text.endswith("<DONE>"):
            self._text("assistant", text, tag="text", is_done=True)
        else:
            self._text("assistant", text, tag="text")

    def say_nothing(self) -> None:
        """An empty completion: the harness records its tokens and no message."""
        self._complete()

    def stall(self) -> None:
        """Thoughts without a reply; the harness fills the gap with a message that nobody said."""
        self._complete()
        self._text("assistant", "(no reply)", tag="text", is_dummy=True)

    def call(self, *calls: Call) -> list[tooling.Answer]:
        """Make calls: at once where the model can, else one after the other."""
        if self.model.parallel:
            return self._batch(list(calls))
        return [answer for one in calls for answer in self._batch([one])]

    def broken_call(self, tool: str, place: int) -> None:
        """A call whose arguments are no JSON: the harness answers in the tool's place."""
        problem = f"Error: Expecting ',' delimiter: line 1 column {place + 1} (char {place})"
        entry = self._tool_call(tool, {}, error=problem)
        self._complete()
        self._put_calls([entry])
        self._respond(entry, problem)

    def hand_over(self, reason: str) -> None:
        """Call the tool that ends the conversation. It has no response in the transcript."""
        entry = self._tool_call("desk_hand_over", {"reason": reason}, ends=True)
        self._complete()
        self.messages.append({"T": "ParallelToolCall", "metadata": {"is_end_turn_tool": True}, "tool_calls": [entry]})
        self.tool_calls.append({"tool_call": entry, "tool_response": self._response(entry, "")})

    @property
    def last_answer(self) -> str:
        """What the test looks at: the last visible message of the agent, empty when another thing came last."""
        last = self.messages[-1]
        return str(last["content"]) if last["T"] == "Text" and last["role"] == "assistant" else ""

    # How it is recorded

    def _batch(self, calls: list[Call]) -> list[tooling.Answer]:
        entries = [self._tool_call(one.tool, dict(one.arguments)) for one in calls]
        self._complete()
        self._put_calls(entries)
        answers = []
        for entry in entries:
            answer = tooling.call(self._tools, self.databases, entry["name"], entry["arguments"])
            self._respond(entry, answer.content, rejected=answer.rejected)
            wording = self._tools[entry["name"]].direct if entry["name"] in self._tools else None
            if wording is not None and not answer.failed:
                self.direct.append(wording.format(**tooling.loads(answer.content)))
                self._text("assistant", self.direct[-1], tag="direct")
            answers.append(answer)
        return answers

    def _put_calls(self, entries: list[Message]) -> None:
        if self.model.bare_calls and len(entries) == 1:
            self.messages.append(entries[0])
        else:
            self.messages.append({"T": "ParallelToolCall", "metadata": {}, "tool_calls": entries})

    def _tool_call(
        self, tool: str, arguments: dict[str, Any], *, error: str | None = None, ends: bool = False
    ) -> Message:
        metadata: dict[str, Any] = {"error": error}
        if ends:
            metadata["is_end_turn_tool"] = True
        self._said += len(tool) + len(str(arguments))
        identity = f"call_{self.rng.getrandbits(96):024x}"
        return {"T": "ToolCall", "metadata": metadata, "name": tool, "arguments": arguments, "id": identity}

    def _response(self, entry: Message, content: str, *, rejected: bool = False) -> Message:
        metadata = {"isError": True} if rejected else {}
        return {"T": "ToolResponse", "metadata": metadata, "name": entry["name"], "content": content, "id": entry["id"]}

    def _respond(self, entry: Message, content: str, *, rejected: bool = False) -> None:
        response = self._response(entry, content, rejected=rejected)
        self.messages.append(response)
        self.tool_calls.append({"tool_call": entry, "tool_response": response})
        self.tool_seconds += self._seconds(0.02, 0.3)
        self._seen += len(content)

    def _text(self, role: str, content: str, **metadata: Any) -> None:
        self.messages.append({"T": "Text", "metadata": metadata, "role": role, "content": content})
        self._seen += len(content)

    def _complete(self) -> None:
        """Close one model call: its tokens, from the length of what was read and written."""
        tools = 2_600
        read = tools + self._seen // _CHARACTERS_PER_TOKEN
        reasoning = self._thought // 3 * 2
        written = (self._said + self._thought) // _CHARACTERS_PER_TOKEN + reasoning + 9
        self.usage.append(
            {
                "input_tokens": read,
                "input_tokens_details": {"cached_tokens": self._cached},
                "output_tokens": written,
                "output_tokens_details": {"reasoning_tokens": reasoning},
                "total_tokens": read + written,
            }
        )
        self._cached = read // _CACHE_STEP * _CACHE_STEP
        self._said = self._thought = 0
        self.agent_seconds += 0.4 + written / self.model.tokens_per_second

    def _seconds(self, least: float, most: float) -> float:
        return round(self.rng.uniform(least, most), 3)
