"""Formats of the list pages: times, widths of bars, and the strip of repetitions."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from urllib.parse import urlencode

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from inspector.templatetags.twentyfold import sign, visible
from runs.queries.run_tasks import TaskRow
from runs.signatures import Signature
from runs.wording import counted

register = template.Library()

_CLASSES = {"p": "passed", "f": "failed", "e": "error"}


@register.filter
def moment(time: datetime | None) -> str:
    """A time in UTC: `28 Nov 2026, 16:20`; a dash for None."""
    return "–" if time is None else f"{time.day} {time:%b %Y, %H:%M}"


@register.filter
def about(seconds: float) -> str:
    """A guess at how long something takes: `7 s`, `4 min`, `3 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"


@register.filter
def width(part: float, whole: float) -> str:
    """Length of a bar from 0 to 100, as an SVG attribute wants it."""
    return f"{100 * part / whole:.2f}" if whole else "0"


@register.filter
def share(part: int, whole: int) -> str:
    """A count of another in whole percent, never rounded to 0% or 100%: `67%`, `<1%`, `>99%`; a dash of nothing."""
    if not whole:
        return "–"
    if 0 < part < whole:
        percent = round(100 * part / whole)
        return "<1%" if percent == 0 else ">99%" if percent == 100 else f"{percent}%"
    return f"{100 * part / whole:.0f}%"


@register.filter
def signed(difference: float | None) -> str:
    """A difference of shares in points, with its sign: `+3.2`, `−10.0`, `0.0`; a dash for None."""
    if difference is None:
        return "–"
    text = f"{abs(difference) * 100:.1f}"
    return text if float(text) == 0 else f"{'+' if difference > 0 else '−'}{text}"


@register.filter
def limit(count: int) -> str:
    """A limit as the settings write it, where a unit is a power of 1,024: `8 GB`, `1.5 MB`."""
    size, unit = float(count), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.1f} {unit}".replace(".0 ", " ")


@register.simple_tag
def strip(verdicts: str, passed: int, expected: int) -> SafeString:
    """A small strip of repetitions from its letters."""
    cut = format_html('<span class="xs dim" aria-hidden="true">{}</span>', "…") if len(verdicts) > 100 else ""
    return format_html(
        '<span class="strip mini{}" role="img" aria-label="{} of {} passed">{}{}</span>',
        " long" if len(verdicts) > 20 else "",
        passed,
        expected,
        _dot_marks(verdicts),
        cut,
    )


@lru_cache(maxsize=8192)
def _dot_marks(verdicts: str) -> SafeString:
    """The dots of a small strip, at most 100. Kept, since a page has thousands of dots and few different strips."""
    return format_html_join("", '<span class="dot {}"></span>', ((name,) for name in dots(verdicts[:100])))


@register.filter
def dots(verdicts: str) -> list[str]:
    """The classes of a strip's dots from its letters."""
    return [_CLASSES.get(letter, "none") for letter in verdicts]


# Here and not in a template, where the hundred rows of a page took a fifth of its time.
@register.simple_tag
def usual_difference(task: TaskRow, run: str, failures: str) -> SafeString:
    """A task's most common difference with the way to the attempts that have it, or why there is none; nothing for a
    task that never fails. `failures` is the address of the list of failures.
    """
    usual = task.usual
    if usual is None:
        return format_html("{}", "")
    if not usual.difference:
        if usual.signature.value == Signature.RESPONSE_CHECK:
            words, why = "none in the records", "The state is as required: another check failed"
        else:
            words, why = "not known", "Neither the states nor the check's report tell one"
        return format_html('<span class="dim sm" title="{}">{}</span>', why, words)
    query = {"run": run, "task": task.uid, "field": f"{usual.table}.{usual.field}", "effect": usual.difference}
    table, field = visible(usual.table), visible(usual.field)
    return format_html(
        '<a class="quiet" href="{}?{}" title="{}: in {} of {}"><span class="fx {}">'
        '<span class="sign" aria-hidden="true">{}</span>{}{}</span> '
        '<code><bdi class="clip">{}</bdi>{}</code> <span class="dim">in {}</span></a>',
        failures,
        urlencode(query),
        f"{table}.{field}" if field else table,
        f"{usual.attempts:,}",
        counted(task.counts.failed, "failed attempt"),
        usual.difference,
        sign(usual.difference),
        "differs" if usual.difference == "reported" else usual.difference,
        "" if field else " row",
        table,
        format_html('<bdi class="clip">.<b>{}</b></bdi>', field) if field else "",
        f"{usual.attempts:,}",
    )


@register.simple_tag
def usual_signature(task: TaskRow) -> SafeString:
    """The most frequent signature of a task's failed attempts; its title says in how many, and by which rule."""
    usual = task.usual
    if usual is None:
        return format_html("{}", "")
    among = counted(task.counts.failed, "failed attempt")
    return format_html(
        '<span title="In {} of {}: {}">{}</span>',
        f"{usual.with_signature:,}",
        among,
        usual.signature.rule,
        usual.signature.title,
    )
