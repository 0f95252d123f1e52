"""How many requests a minute somebody may send."""

from __future__ import annotations

from pytest_django import Settings

from inspector.ratelimit import Buckets, Turn, settle_turn, take_turn


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_empties_and_fills_up_again() -> None:
    clock = Clock()
    buckets = Buckets(clock)
    assert [buckets.take("a", 3) for _ in range(4)] == [
        Turn(True, 3, 2, 0, 20),
        Turn(True, 3, 1, 0, 40),
        Turn(True, 3, 0, 0, 60),
        Turn(False, 3, 0, 20, 60),
    ]
    assert buckets.take("b", 3).allowed
    clock.now += 19
    assert buckets.take("a", 3) == Turn(False, 3, 0, 1, 41)
    clock.now += 1
    assert buckets.take("a", 3) == Turn(True, 3, 0, 0, 60)
    clock.now += 3600
    assert buckets.take("a", 3) == Turn(True, 3, 2, 0, 20)


def test_what_is_refused_says_when_to_come_again() -> None:
    refused = Turn(False, 600, 0, 1, 60)
    assert refused.sentence == "More than 600 requests a minute came from here. Send the next one in 1 second."
    assert refused.headers == {
        "RateLimit-Limit": "600", "RateLimit-Remaining": "0", "RateLimit-Reset": "60", "Retry-After": "1",
    }  # fmt: skip
    assert Turn(True, 600, 599, 0, 1).headers == {
        "RateLimit-Limit": "600", "RateLimit-Remaining": "599", "RateLimit-Reset": "1",
    }  # fmt: skip


def test_live_tokens_and_addresses_have_buckets_of_their_own(settings: Settings) -> None:
    settings.API_RATE = 1
    senders = [(header, address) for address in ("192.0.2.1", "192.0.2.2") for header in (f"Bearer tf_{address}", "")]
    for header, address in senders[::2]:
        turn = settle_turn(header, address, take_turn(header, address), live=True)
        assert (turn.allowed, settle_turn(header, address, turn, live=True)) == (True, turn)
    assert [take_turn(*sender).allowed for sender in senders] == [False, True, False, True]
    # A token is known wherever it is sent from, and however its header is written.
    assert not take_turn("bearer  tf_192.0.2.1 ", "192.0.2.3").allowed
    settings.API_RATE = 0
    assert take_turn(*senders[0]) == Turn(True, 0, 0, 0, 0)


def test_tokens_that_open_nothing_are_counted_by_address(settings: Settings) -> None:
    settings.API_RATE = 2
    turns = []
    for number in range(3):
        header = f"Bearer made-up-{number}"
        turns.append(settle_turn(header, "192.0.2.4", take_turn(header, "192.0.2.4"), live=False))
    assert [turn.allowed for turn in turns] == [True, True, False]


def test_a_token_that_was_revoked_is_paid_for_by_its_address(settings: Settings) -> None:
    settings.API_RATE = 2
    header, address = "Bearer revoked", "192.0.2.5"
    settle_turn(header, address, take_turn(header, address), live=True)
    assert settle_turn(header, address, take_turn(header, address), live=False).left == 1
    assert [take_turn(header, address).allowed for _ in range(2)] == [True, False]


def test_only_the_last_senders_are_known() -> None:
    buckets = Buckets(Clock())
    for number in range(10_001):
        buckets.take(str(number), 1)
    assert [buckets.take(sender, 1).allowed for sender in ("0", "10000")] == [True, False]
