"""What pages say about a signature: its title, and its rule in one sentence."""

from __future__ import annotations

import msgspec

from runs.signatures import LABEL_TITLES, SIGNATURE_TITLES, Label, Signature

__all__ = ["SignatureWords", "label_title", "signature_title", "signature_words"]

_RULES = {
    Signature.RESPONSE_CHECK: "the state is as required; a rubric, an assertion or the reward is not",
    Signature.UNDETERMINED: "neither states, hashes nor the text of an assertion are recorded",
    Signature.TOOL_USAGE: "an explicit tool error that no later step repaired",
    Signature.NO_STATE_CHANGING_ACTION: "a change was required, and no state-changing call reached its tool",
    Signature.INCOMPLETE_USER_RESOLUTION: "broken off, or the final message is empty, unfinished or asks something",
    Signature.WRONG_STATE_UPDATE: "something was written, and the state is not as required",
}


class SignatureWords(msgspec.Struct, frozen=True):
    value: str
    title: str
    rule: str


def signature_words(value: str) -> SignatureWords:
    """A signature as it is stored; one that no version of the rule gives any more is shown as it stands."""
    if value not in set(Signature):
        return SignatureWords(value, value or "not classified", "")
    signature = Signature(value)
    return SignatureWords(value, SIGNATURE_TITLES[signature], _RULES[signature])


def signature_title(value: str) -> str:
    return signature_words(value).title


def label_title(value: str) -> str:
    return LABEL_TITLES[Label(value)] if value in set(Label) else value
