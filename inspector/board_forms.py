"""The form of a leaderboard."""

from __future__ import annotations

from typing import Any

from django import forms

from runs.boards import Column, Order
from runs.boards.edit import BoardChanges
from runs.boards.inputs import USUAL_COLUMNS
from runs.metrics import ErrorRule
from runs.models import Leaderboard
from runs.queries.leaderboards import BoardChoices

__all__ = ["COLUMN_LABELS", "ORDER_LABELS", "RULE_LABELS", "BoardForm"]

MOST_REPETITIONS = 1000
COLUMN_LABELS = {
    Column.INTERVAL: "95% interval",
    Column.DOMAINS: "pass@1 by domain",
    Column.SOLVED: "Solved at least once",
    Column.ALL_K: "Passed k of k",
    Column.RETENTION: "Retention",
    Column.ERRORS: "System errors",
    Column.COST_PER_SUCCESS: "Cost per success",
    Column.COST_PER_DEPENDABLE: "Cost per dependable task",
    Column.CAMPAIGN: "Cost of all attempts",
}
ORDER_LABELS = {
    Order.PASS_AT_1: "pass@1",
    Order.ALL_K: "passed k of k",
    Order.SOLVED: "solved at least once",
    Order.COST: "cost per dependable task",
}
RULE_LABELS = {
    ErrorRule.AS_FAILED: "count as attempts that did not pass",
    ErrorRule.LEFT_OUT: "are left out of pass@1",
}


_GONE = "%(value)s is none of the choices. It may have been deleted meanwhile: choose again."
_NO_RUN = (
    "There is no run %(value)s on this server. It may have been deleted meanwhile. The other rows are still chosen: "
    "save again to go without it."
)
_CHOICE = {"invalid_choice": _GONE, "required": "Nothing is chosen. Choose one."}


class BoardForm(forms.Form):
    title = forms.CharField(
        max_length=200, error_messages={"required": "The leaderboard has no title. Give it one, such as the benchmark."}
    )
    text = forms.CharField(required=False, max_length=5000)
    runs = forms.MultipleChoiceField(required=False, error_messages={"invalid_choice": _NO_RUN})
    published = forms.MultipleChoiceField(required=False, error_messages=_CHOICE)
    columns = forms.MultipleChoiceField(
        required=False,
        choices=[(column.value, label) for column, label in COLUMN_LABELS.items()],
        error_messages=_CHOICE,
    )
    order = forms.ChoiceField(
        choices=[(order.value, label) for order, label in ORDER_LABELS.items()], error_messages=_CHOICE
    )
    error_rule = forms.ChoiceField(
        choices=[(rule.value, label) for rule, label in RULE_LABELS.items()], error_messages=_CHOICE
    )
    k = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_REPETITIONS,
        error_messages={
            "invalid": "This is not a whole number. Give a number such as 20, or leave it empty.",
            "min_value": "Give at least 1, or leave it empty.",
            "max_value": f"Give at most {MOST_REPETITIONS:,}.",
        },
    )
    price_list = forms.ChoiceField(required=False, error_messages=_CHOICE)
    by_weights = forms.BooleanField(required=False)

    def __init__(self, choices: BoardChoices, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields = self.fields
        runs, published, lists = fields["runs"], fields["published"], fields["price_list"]
        assert isinstance(runs, forms.MultipleChoiceField)
        assert isinstance(published, forms.MultipleChoiceField)
        assert isinstance(lists, forms.ChoiceField)
        runs.choices = [(run.slug, run.slug) for run in choices.runs]
        published.choices = [(name, name) for name in choices.published]
        lists.choices = [("", "each run by its own"), *choices.price_lists]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not cleaned.get("runs") and not cleaned.get("published") and not self.errors:
            self.add_error("runs", "The leaderboard has no row. Choose at least one run or published row.")
        return cleaned

    @staticmethod
    def first() -> dict[str, Any]:
        """What the form of a new board shows."""
        return {
            "columns": [column.value for column in USUAL_COLUMNS],
            "order": Order.PASS_AT_1.value,
            "error_rule": ErrorRule.AS_FAILED.value,
        }

    @staticmethod
    def facts_of(board: Leaderboard) -> dict[str, Any]:
        return {
            "title": board.title,
            "text": board.text,
            "runs": list(board.runs.order_by("entries__id").values_list("slug", flat=True)),
            "published": board.published,
            "columns": board.columns,
            "order": board.order,
            "error_rule": board.error_rule,
            "k": board.k,
            "price_list": str(board.price_list_id or ""),
            "by_weights": board.by_weights,
        }

    def changes(self) -> BoardChanges:
        """Of a valid form."""
        data = self.cleaned_data
        return BoardChanges(
            title=data["title"],
            text=data["text"],
            runs=tuple(data["runs"]),
            published=tuple(data["published"]),
            columns=tuple(Column(value) for value in data["columns"]),
            order=Order(data["order"]),
            error_rule=ErrorRule(data["error_rule"]),
            k=data["k"],
            price_list=int(data["price_list"]) if data["price_list"] else None,
            by_weights=data["by_weights"],
        )
