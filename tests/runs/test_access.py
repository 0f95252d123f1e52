"""What an account and its tokens may do."""

from __future__ import annotations

import pytest

from runs.access import EVERYTHING, Access, Role, Scope, access_for


@pytest.mark.parametrize(
    ("role", "scopes", "may"),
    [
        (Role.VIEWER, None, (False, False, False)),
        (Role.EVALUATOR, None, (True, True, False)),
        (Role.ADMIN, None, (True, True, True)),
        (Role.VIEWER, set(Scope), (False, False, False)),
        (Role.ADMIN, {Scope.READ}, (False, False, False)),
        (Role.ADMIN, {Scope.EVALUATE}, (True, False, False)),
        (Role.EVALUATOR, {Scope.WRITE}, (False, True, False)),
        (Role.EVALUATOR, {Scope.ADMIN}, (False, False, False)),
        (Role.ADMIN, {Scope.ADMIN}, (False, False, True)),
        (Role.ADMIN, set(), (False, False, False)),
    ],
)
def test_a_token_never_allows_more_than_its_owner_and_its_scopes(
    role: Role, scopes: set[Scope] | None, may: tuple[bool, bool, bool]
) -> None:
    access = access_for(role, scopes, user=7, name="ana")
    assert (access.evaluates, access.writes, access.administers) == may
    assert (access.user, access.name) == (7, "ana")


def test_by_default_nothing_is_allowed_and_the_person_at_the_keyboard_may_do_all() -> None:
    assert Access() == Access(evaluates=False, writes=False, administers=False, user=None, name="")
    assert Access(evaluates=True, writes=True, administers=True) == EVERYTHING
