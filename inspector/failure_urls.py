"""Routes of what failures are found by."""

from __future__ import annotations

from django.urls import URLPattern, path

from inspector.views import failures, notes, search

failure_routes: list[URLPattern] = [
    path("failures/", failures.index, name="failures"),
    path("failures/list.<str:kind>", failures.export, name="failures_export"),
    path("failures/views/", failures.save, name="view_save"),
    path("failures/views/<int:pk>/forget/", failures.forget, name="view_forget"),
    path("failures/errors/", failures.errors, name="errors"),
    path("failures/errors/again.<str:kind>", failures.again, name="errors_again"),
    path("failures/next/", failures.look, name="look_next"),
    path("search/", search.index, name="search"),
    path("notes/", notes.index, name="notes"),
    path("notes/notes.json", notes.export, name="notes_export"),
    path("notes/import/", notes.import_notes, name="notes_import"),
    path("notes/<int:pk>/delete/", notes.delete, name="note_delete"),
    path("attempts/<int:pk>/notes/", notes.of_attempt, name="attempt_notes"),
]
