"""The lines of sources: remembered for a moment, and never one too few."""

import orjson
import pytest
from pytest_django import DjangoAssertNumQueries

from catalogue import attribution
from catalogue.models import Source
from tests.catalogue import builders

pytestmark = pytest.mark.django_db


def test_lines_come_by_key_each_once_and_are_asked_for_once_in_half_a_minute(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    builders.source("osm")
    builders.source("demo")
    assert attribution.attribution_lines([]) == []
    attribution._cache.clear()  # noqa: SLF001  # what the process remembers
    monkeypatch.setattr(attribution, "MAX_AGE_S", 30.0)
    with django_assert_num_queries(1):
        shown = attribution.attribution_lines(["osm", "demo", "osm"])
        assert attribution.attribution_lines({"osm"}) == shown[1:]
    demo, osm = Source.objects.get(key="demo"), Source.objects.get(key="osm")
    assert shown == [
        {"source": "demo", "text": demo.attribution, "license": demo.license},
        {"source": "osm", "text": osm.attribution, "license": osm.license},
    ]


def test_a_source_that_was_added_is_named_at_once_though_the_others_are_remembered(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(attribution, "MAX_AGE_S", 30.0)
    builders.source("demo")
    attribution.attribution_lines(["demo"])
    builders.source("brand-new")
    with django_assert_num_queries(1):
        shown = attribution.attribution_lines(["demo", "brand-new"])
    assert [line["source"] for line in shown] == ["brand-new", "demo"]
    with django_assert_num_queries(0):
        attribution.attribution_lines(["demo", "brand-new"])


def test_the_sources_of_an_answer_are_those_of_its_lines_and_rows_and_none_of_its_texts() -> None:
    body = orjson.dumps(
        {
            "attribution": [{"source": "osm", "text": "OpenStreetMap"}, {"source": "demo", "text": "Demo"}],
            "entries": [{"source": "wikidata.org"}, {"source": "osm"}, {"source": None}],
            "reviews": [{"text": 'He said "source":"invented" and left.'}],
        },
        option=orjson.OPT_INDENT_2,
    )
    assert attribution.list_sources(body) == ["demo", "osm", "wikidata.org"]
