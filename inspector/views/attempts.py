"""`/attempts/<id>/`: the trace page, its parts on demand, and the row to take away."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from inspector.access import access_of, evaluators_only, viewers_too
from inspector.audit import Action, note
from inspector.http import HtmxHttpRequest, render_page
from runs.access import Access
from runs.queries.attempt_detail import PARTS
from runs.queries.attempt_steps import SHOWS
from runs.queries.attempt_viewed import viewed_attempt
from runs.queries.attempts import (
    TABS,
    AttemptView,
    attempt_block,
    attempt_page,
    attempt_row,
    attempt_same,
    attempt_step,
    attempt_step_text,
    attempt_value,
)
from runs.queries.notes import notes_of

_VIEWED_PARTIALS = ("steps", "state", "task")
_PARTIALS = ("steps", "state", "task", "raw")
_LONGEST = 200
_NOT_HERE = "There is no such attempt."


@viewers_too
@require_safe
def detail(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    """The page; for htmx one of its parts (`part`), or a block of steps (`block`: the number of one of them)."""
    access = access_of(request)
    if request.htmx and "block" in request.GET:
        block = attempt_block(pk, _number(request.GET, "block", 1), access=access)
        if block is None:
            raise Http404(_NOT_HERE)
        return render_page(request, "attempts/steps.html", {"block": block, "pk": pk}, partial="block")
    if not access.evaluates:
        return _viewed(request, pk, access)
    page = attempt_page(pk, _view(request.GET), access=access)
    if page is None:
        raise Http404(_NOT_HERE)
    part = request.GET.get("part", "")
    if part in _PARTIALS:
        return render_page(request, "attempts/detail.html", {"page": page}, partial=part)
    return render_page(request, "attempts/detail.html", {"page": page, "notes": notes_of(pk, access=access)})


def _viewed(request: HtmxHttpRequest, pk: int, access: Access) -> HttpResponse:
    """The same for who may not evaluate: nothing in it is derived from what the task requires."""
    page = viewed_attempt(pk, _view(request.GET), access=access)
    if page is None:
        raise Http404(_NOT_HERE)
    part = request.GET.get("part", "")
    partial = part if part in _VIEWED_PARTIALS else None
    return render_page(request, "attempts/viewed.html", {"page": page}, partial=partial)


@viewers_too
@require_safe
def step(request: HtmxHttpRequest, pk: int, step: int) -> HttpResponse:
    """A step's payload: a part of the page, or a page of its own; with `text` one part exactly as the record has it."""
    wanted = request.GET.get("text", "")
    if wanted in PARTS:
        text = attempt_step_text(pk, step, wanted, access=access_of(request))
        if text is None:
            raise Http404(_NOT_HERE)
        return _plain(text)
    only = request.GET.get("only", "")
    found = attempt_step(
        pk,
        step,
        only=only if only in PARTS else "",
        start=_number(request.GET, "start", 0),
        access=access_of(request),
    )
    if found is None:
        raise Http404(_NOT_HERE)
    return render_page(
        request, "attempts/step.html", {"detail": found}, partial="window" if only in PARTS else "payload"
    )


@viewers_too
@require_safe
def value(request: HttpRequest, pk: int, number: int, side: str) -> HttpResponse:
    """One value of an effect in full, as plain text."""
    text = attempt_value(pk, number, side, request.GET.get("field", ""), access=access_of(request))
    if text is None:
        raise Http404(_NOT_HERE)
    return _plain(text)


@evaluators_only
@require_safe
def same(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    """The tables that are equal in all three states, and the records of one of them."""
    found = attempt_same(
        pk,
        server=request.GET.get("server", ""),
        table=request.GET.get("table", ""),
        first=_number(request.GET, "first", 0),
        access=access_of(request),
    )
    if found is None:
        raise Http404(_NOT_HERE)
    return render_page(request, "attempts/same.html", {"page": found}, partial="tables")


@evaluators_only
@require_safe
def raw(request: HttpRequest, pk: int) -> HttpResponse:
    """The attempt's row as JSON, to be saved, never to be shown by the browser. `unmasked=1`: with its secrets, for
    admins, and into the audit log."""
    access, masked = access_of(request), request.GET.get("unmasked") != "1"
    found = attempt_row(pk, access=access, masked=masked)
    if found is None:
        raise Http404(_NOT_HERE)
    if not masked:
        note(access, Action.UNMASKED, found.title)
    headers = {
        "Content-Disposition": f'attachment; filename="{found.file_name}"',
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(found.content, content_type="application/json", headers=headers)


def _plain(text: str) -> HttpResponse:
    """Text of a bundle that a browser shows as text, whatever it holds."""
    return HttpResponse(
        text.encode(errors="backslashreplace"),
        content_type="text/plain; charset=utf-8",
        headers={"X-Content-Type-Options": "nosniff"},
    )


def _view(query: QueryDict) -> AttemptView:
    """What the address asks for; an unknown value is as good as none."""
    tab, show = query.get("tab", ""), query.get("show", "")
    return AttemptView(
        tab=tab if tab in TABS else TABS[0],
        narrow=tab if tab in TABS else "steps",
        step=_number(query, "step", 1) if query.get("step") else None,
        show=show if show in SHOWS else SHOWS[0],
        find=query.get("find", "").strip()[:_LONGEST],
        unchanged=query.get("unchanged") == "1",
        everything=query.get("effects") == "all",
    )


def _number(query: QueryDict, name: str, otherwise: int) -> int:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else otherwise
