"""Small files to import, and importing them."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from catalogue.importers import snapshot_sync
from catalogue.importers.parsing.market_lookup import MarketIndex
from catalogue.importers.runner import RejectsFile, RunTotals, import_rows
from catalogue.importers.sources import osm
from catalogue.importers.sources.wikidata_landmarks import LandmarkImport
from catalogue.importers.upsert import RestaurantImport, SourceReader
from catalogue.models import Market

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SHARED_DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def feature(tags: dict[str, Any], *, lat: float = 55.6761, lng: float = 12.5683, **rest: Any) -> dict[str, Any]:
    """A GeoJSON point in the middle of Copenhagen."""
    return {
        "type": "Feature",
        "properties": tags,
        "geometry": {"type": "Point", "coordinates": [lng, lat]},
    } | rest


def cafe(name: str, **tags: Any) -> dict[str, Any]:
    """A café of that name."""
    return feature({"amenity": "cafe", "name": name, **tags})


def geojson(path: Path, features: Iterable[Any]) -> Path:
    path.write_text(json.dumps({"type": "FeatureCollection", "features": list(features)}))
    return path


def json_lines(path: Path, lines: Iterable[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def landmarks_csv(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["qid,name,kind,latitude,longitude", *lines]) + "\n")
    return path


def import_restaurants(
    path: Path,
    *more: Path,
    reader: SourceReader = osm.READER,
    market: str | None = None,
    now: datetime = NOW,
    dry_run: bool = False,
    complete: bool | None = None,
    force: bool = False,
    rejects_to: Path | None = None,
) -> RunTotals:
    """Run the import of files; what is rejected goes to a file beside the first, or to the given one."""
    only = Market.objects.get(slug=market) if market else None
    importer = RestaurantImport(reader, MarketIndex.load(only=only), lambda: now)
    rejects = RejectsFile(rejects_to or path.with_suffix(".rejects"))
    try:
        return snapshot_sync.import_snapshot(
            importer,
            [path, *more],
            market=only,
            rejects=rejects,
            now=now,
            dry_run=dry_run,
            is_complete=reader.is_complete if complete is None else complete,
            forced=force,
        )
    finally:
        rejects.close()


def import_landmarks(path: Path, *, market: str | None = None, rejects_to: Path | None = None) -> RunTotals:
    only = Market.objects.get(slug=market) if market else None
    rejects = RejectsFile(rejects_to or path.with_suffix(".rejects"))
    try:
        return import_rows(LandmarkImport(MarketIndex.load(only=only)), path, market=only, rejects=rejects, now=NOW)
    finally:
        rejects.close()


def counts(totals: RunTotals) -> dict[str, int]:
    """The counts that are not zero, without the rows read."""
    names = ("created", "merged", "changed", "unchanged", "skipped", "rejected", "incomplete", "queued", "closed")
    return {name: getattr(totals, name) for name in names if getattr(totals, name)}


def rejected(path: Path) -> list[dict[str, Any]]:
    """The lines of the rejects that belong to a file; none when there is no such file."""
    file = path.with_suffix(".rejects")
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
