"""The worker of a running product: what an import brings is found open without anybody's further doing."""

import json
from pathlib import Path

import psycopg

from tests.running import Up, ask, eventually, manage

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
        with psycopg.connect(up.said["database_url"]) as connection:
            row = connection.execute(
                "SELECT open_spans @> now() FROM catalogue_restaurant WHERE name = %s", [PLACE["name"]]
            ).fetchone()
        return row == (True,)

    assert eventually(has_spans)
    status, found = ask(f"{up.said['base_url']}/v1/restaurants?q=night+owl+nyhavn&open=now")
    assert (status, [hit["slug"] for hit in found["data"]]) == (200, ["the-night-owl-of-nyhavn"])
    assert found["data"][0]["open_now"] is True
