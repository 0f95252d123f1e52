"""Who sees which run, and what belongs to it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from runs.access import EVERYTHING, NOBODY, THE_TEAM, Access
from runs.models import Attempt, Run, Upload, Visibility
from runs.querysets import owns, visible_attempts, visible_runs, visible_uploads
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db


def seen(access: Access) -> tuple[list[str], int, int]:
    runs = Run.objects.filter(visible_runs(access)).order_by("model").values_list("model", flat=True)
    uploads = Upload.objects.filter(visible_uploads(access)).count()
    return list(runs), Attempt.objects.filter(visible_attempts(access)).count(), uploads


def test_a_private_run_is_its_owners_and_the_admins() -> None:
    ada, bo = (User.objects.create_user(name) for name in ("ada", "bo"))
    store(outcomes("a.py:t", "pf"), model="open")
    private = store(outcomes("a.py:t", "ppf"), model="private")
    Run.objects.filter(pk=private.pk).update(owner=ada, visibility=Visibility.PRIVATE)
    team, everything = (["open"], 2, 1), (["open", "private"], 5, 2)
    assert seen(Access(user=bo.pk)) == seen(THE_TEAM) == team
    assert seen(Access(user=ada.pk)) == seen(EVERYTHING) == seen(Access(administers=True, user=bo.pk)) == everything
    assert seen(NOBODY) == ([], 0, 0)


def test_an_upload_without_a_run_is_seen_by_what_it_says_itself() -> None:
    ada = User.objects.create_user("ada")
    private = Upload.objects.create(file_name="a", size=1, owner=ada, visibility=Visibility.PRIVATE)
    team = Upload.objects.create(file_name="b", size=1, owner=ada)

    def found(access: Access) -> set[int]:
        return set(Upload.objects.filter(visible_uploads(access)).values_list("pk", flat=True))

    assert (found(THE_TEAM), found(Access(user=ada.pk))) == ({team.pk}, {team.pk, private.pk})


def test_who_may_hide_share_and_delete() -> None:
    ada, other = 1, 2
    writer = Access(writes=True, user=ada)
    assert [owns(writer, owner) for owner in (ada, other, None)] == [True, False, False]
    assert [owns(Access(user=ada), ada), owns(EVERYTHING, None)] == [False, True]
