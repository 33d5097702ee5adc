"""The worker of a running product: what comes in is found open and written about without anybody's further doing."""

import json
from pathlib import Path

import psycopg
import pytest

from tests.support.live_stack import Up, ask, eventually, manage

pytestmark = pytest.mark.stack

PLACE = {
    "id": "night-owl",
    "name": "The Night Owl of Nyhavn",
    "location": {"lat": 55.6797, "lng": 12.5907},
    "market": "copenhagen",
    "hours": {"osm": "24/7"},
}


def test_an_imported_place_is_found_open_once_the_worker_has_read_its_hours(up: Up, tmp_path: Path) -> None:
    file = tmp_path / "places.jsonl"
    file.write_text(json.dumps(PLACE) + "\n")
    done = manage(up.state_dir, "catalogue_import", "native", str(file))
    assert done.returncode == 0, done.stderr

    def has_spans() -> bool:
        with psycopg.connect(up.record["database_url"]) as connection:
            row = connection.execute(
                "SELECT open_intervals @> now() FROM catalogue_searchrow WHERE name = %s", ["the night owl of nyhavn"]
            ).fetchone()
        return row == (True,)

    assert eventually(has_spans)
    status, found = ask(f"{up.record['base_url']}/v1/restaurants?q=night+owl+nyhavn&open=now")
    assert (status, [hit["slug"] for hit in found["data"]]) == (200, ["the-night-owl-of-nyhavn"])
    assert found["data"][0]["open_now"] is True


def test_generated_restaurants_have_their_insights_soon(up: Up) -> None:
    def has_all() -> bool:
        with psycopg.connect(up.record["database_url"]) as connection:
            row = connection.execute(
                "SELECT count(*) FILTER (WHERE insight.restaurant_id IS NULL), count(*) FILTER (WHERE text <> '')"
                " FROM catalogue_restaurant AS restaurant"
                " LEFT JOIN catalogue_insight AS insight ON insight.restaurant_id = restaurant.id"
                " WHERE restaurant.review_count >= 5"
            ).fetchone()
        assert row is not None
        return bool(row[0] == 0 and row[1] > 20)

    assert eventually(has_all)
