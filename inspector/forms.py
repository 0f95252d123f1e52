"""What people may send. Each error is a sentence that says what to do."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.db.models import TextChoices
from django.utils import timezone

from runs.editing import RunChanges
from runs.models import Run, Visibility
from runs.models.run import Weights
from runs.naming import MOST_REPETITIONS
from runs.uploads import Wishes

__all__ = ["AnswerForm", "EditRunForm", "KeepingForm", "LoginForm", "ShareForm", "UploadForm"]

_LONG = {"max_length": "This is longer than %(limit_value)d characters. Shorten it."}
_COUNT = {
    "invalid": "This is not a whole number. Give a number such as 20, or leave it empty.",
    "min_value": "Give at least 1, or leave it empty.",
    "max_value": f"Give at most {MOST_REPETITIONS:,}.",
}


def _name(**options: Any) -> forms.CharField:
    return forms.CharField(max_length=200, error_messages={**_LONG, **options.pop("error_messages", {})}, **options)


def _count() -> forms.IntegerField:
    return forms.IntegerField(required=False, min_value=1, max_value=MOST_REPETITIONS, error_messages=_COUNT)


class UploadForm(forms.Form):
    """What may be said about files before they are read."""

    model = _name(required=False)
    benchmark = _name(required=False)
    repetitions = _count()
    run = _name(required=False)
    private = forms.BooleanField(required=False)
    mask = forms.BooleanField(required=False)

    def wishes(self) -> Wishes:
        """Of a valid form."""
        return Wishes(
            model=self.cleaned_data["model"],
            benchmark=self.cleaned_data["benchmark"],
            repetitions=self.cleaned_data["repetitions"],
            run=self.cleaned_data["run"],
            private=self.cleaned_data["private"],
            mask=self.cleaned_data["mask"],
        )


class AnswerForm(UploadForm):
    """The answer to a file that does not say which model it is of: the name, or the run to add it to."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not cleaned.get("model") and not cleaned.get("run") and "model" not in self.errors:
            self.add_error("model", "The model's name is missing. Give the name, or choose the run to add the file to.")
        return cleaned


class EditRunForm(forms.Form):
    model = _name(error_messages={"required": "The model's name is missing. Give a name."})
    benchmark = _name(error_messages={"required": "The benchmark's name is missing. Give a name."})
    provider = _name(required=False)
    weights = forms.ChoiceField(required=False, choices=Weights.choices)
    repetitions = _count()
    note = forms.CharField(required=False, max_length=10_000, strip=True, error_messages=_LONG)

    @staticmethod
    def facts_of(run: Run) -> dict[str, Any]:
        """What the form shows first."""
        return {
            "model": run.model,
            "benchmark": run.benchmark.name,
            "provider": run.provider,
            "weights": run.weights,
            "repetitions": None if run.repetitions_inferred else run.repetitions,
            "note": run.note,
        }

    def changes(self) -> RunChanges:
        """Of a valid form."""
        return RunChanges(**self.cleaned_data)


class KeepingForm(forms.Form):
    """Who sees a run, and how long it stays: for its owner to say."""

    visibility = forms.ChoiceField(
        choices=Visibility.choices, error_messages={"invalid_choice": "Choose one of these.", "required": "Choose one."}
    )
    expires_on = forms.DateField(
        required=False, error_messages={"invalid": "This is no day. Write it as 2026-12-31, or leave it empty."}
    )

    @staticmethod
    def facts_of(run: Run) -> dict[str, Any]:
        expires_on = None if run.expires_at is None else run.expires_at.date()
        return {"visibility": run.visibility, "expires_on": expires_on}

    def clean_expires_on(self) -> date | None:
        day: date | None = self.cleaned_data["expires_on"]
        if day is not None and day <= timezone.now().date():
            raise forms.ValidationError("This day is here or over. Give a later one, or leave it empty.")
        return day

    def expires_at(self) -> datetime | None:
        """Of a valid form: when that day begins, in UTC."""
        day: date | None = self.cleaned_data["expires_on"]
        return None if day is None else datetime.combine(day, time(), tzinfo=UTC)


class LoginForm(forms.Form):
    """A name and a password, as they were typed."""

    name = forms.CharField(max_length=150, strip=True, error_messages={**_LONG, "required": "Give the account's name."})
    password = forms.CharField(
        max_length=4096, strip=False, error_messages={**_LONG, "required": "Give the account's password."}
    )


class Audience(TextChoices):
    PRIVATE = "private", "Only this server"
    LINK = "link", "Whoever has the link"
    PUBLIC = "public", "Everybody"


class ShareForm(forms.Form):
    """Who may read a leaderboard without an account, and until when a link opens it."""

    KEEP = "keep"
    NEVER = "never"
    LASTS = (
        ("1", "1 day"),
        ("7", "7 days"),
        ("30", "30 days"),
        ("90", "90 days"),
        ("365", "1 year"),
        (NEVER, "no end"),
    )

    audience = forms.ChoiceField(
        choices=Audience.choices,
        error_messages=dict.fromkeys(("required", "invalid_choice"), "Choose who may read it."),
    )
    lasts = forms.ChoiceField(
        required=False, choices=((KEEP, "as it is"), *LASTS), error_messages={"invalid_choice": "Choose one of these."}
    )

    def ends(self, now: datetime, current: datetime | None) -> datetime | None:
        """Of a valid form: when the link ends; None for never."""
        lasts = self.cleaned_data["lasts"] or self.NEVER
        if lasts == self.KEEP:
            return current
        return None if lasts == self.NEVER else now + timedelta(days=int(lasts))
