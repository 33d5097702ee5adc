"""The lines of sources: remembered for a moment, and never one too few."""

import pytest
from pytest_django import DjangoAssertNumQueries

from catalogue import sources
from catalogue.models import Source
from tests.catalogue import make

pytestmark = pytest.mark.django_db


def test_lines_come_by_key_each_once_and_are_asked_for_once_in_half_a_minute(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.source("osm")
    make.source("demo")
    assert sources.lines([]) == []
    monkeypatch.setattr(sources._lately, "kept", None)  # noqa: SLF001  # what the process remembers
    monkeypatch.setattr(sources, "REMEMBERED_S", 30.0)
    with django_assert_num_queries(1):
        shown = sources.lines(["osm", "demo", "osm"])
        assert sources.lines({"osm"}) == shown[1:]
    demo, osm = Source.objects.get(key="demo"), Source.objects.get(key="osm")
    assert shown == [
        {"source": "demo", "text": demo.attribution, "license": demo.license},
        {"source": "osm", "text": osm.attribution, "license": osm.license},
    ]


def test_a_source_that_was_added_is_named_at_once_though_the_others_are_remembered(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(sources, "REMEMBERED_S", 30.0)
    make.source("demo")
    sources.lines(["demo"])
    make.source("brand-new")
    with django_assert_num_queries(1):
        shown = sources.lines(["demo", "brand-new"])
    assert [line["source"] for line in shown] == ["brand-new", "demo"]
    with django_assert_num_queries(0):
        sources.lines(["demo", "brand-new"])
