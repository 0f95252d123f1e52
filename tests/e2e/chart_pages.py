"""Pages of charts for the browser: the site's own routes, and one that draws what a test puts into `SHOWN`."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.urls import path

from inspector import urls
from inspector.charts.data import Chart

SHOWN: list[Chart] = []

_PAGE = """{% extends "base.html" %}{% load static %}
{% block title %}Charts{% endblock %}
{% block styles %}{{ block.super }}{% if charts %}{% include "parts/_chart_head.html" %}{% endif %}{% endblock %}
{% block content %}<div class="page"><h1>Charts</h1><div class="half">
{% for chart in charts %}{% include "parts/_chart.html" %}{% endfor %}</div></div>{% endblock %}"""


def charts(request: HttpRequest) -> HttpResponse:
    template = engines["django"].from_string(_PAGE)
    return HttpResponse(template.render({"charts": SHOWN}, request))


urlpatterns = [path("charts/", charts), *urls.urlpatterns]
handler400, handler403, handler404, handler500 = (
    urls.handler400,
    urls.handler403,
    urls.handler404,
    urls.handler500,
)
