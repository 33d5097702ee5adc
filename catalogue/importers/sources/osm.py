"""OpenStreetMap as GeoJSON, with the raw tags as properties: places to eat and drink."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, BinaryIO

import ijson
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from catalogue.hours import HORIZON_DAYS, holidays, read_osm
from catalogue.importers.parsing.geometry import representative_point
from catalogue.importers.parsing.json_depth import check_depth
from catalogue.importers.parsing.parsed_place import Place, Sketch
from catalogue.importers.row_errors import (
    RejectedError,
    UnreadableFileError,
    check_line,
    check_storable,
    digest_of,
    is_line,
)
from catalogue.models import Market, Restaurant
from catalogue.places.phones import read_phone
from catalogue.places.slugs import slugify

SOURCE = "osm"
# Extracts, not whole countries: what is absent from one is not gone.
IS_COMPLETE = False
IS_WORLDWIDE = False
IS_GROUPED = False

# Part of every digest: raise it when this module reads more than before, and the next import reads all rows anew.
VERSION = 2

EATING = frozenset({"restaurant", "cafe", "fast_food", "bar", "pub", "food_court", "ice_cream", "biergarten"})

# Lifecycle prefixes: what a place was before it closed (wiki.openstreetmap.org/wiki/Lifecycle_prefix).
PAST = ("disused", "abandoned", "was", "closed", "demolished", "removed", "razed")

ATTRIBUTES = (
    "air_conditioning",
    "delivery",
    "dog",
    "drive_through",
    "highchair",
    "indoor_seating",
    "internet_access",
    "live_music",
    "outdoor_seating",
    "reservation",
    "smoking",
    "takeaway",
    "toilets:wheelchair",
    "wheelchair",
)
EXTERNAL_IDS = {
    "brand:wikidata": "brand_wikidata",
    "wikidata": "wikidata",
    "fvst:navnelbnr": "fvst_navnelbnr",
    "ref:DK:cvr:pnummer": "cvr_pnummer",
}

# Danish registers: the food authority's number of a kitchen under its name, and the number of a production unit.
# Neighbours share one now and then (Bæst and Mirabelle), so the name is part of the key.
REGISTERS = {"fvst:navnelbnr": "fvst", "ref:DK:cvr:pnummer": "pnummer"}

_OSM_ID = re.compile(r"(node|way|relation)/[1-9][0-9]{0,18}", re.ASCII)
_OTHER_NAME = re.compile(r"name:[a-z]{2,3}(-[A-Za-z]+)?|(alt|short|official|loc)_name(:[a-z]{2,3})?")
_DIET = re.compile(r"diet:[a-z_-]+")
_WORD = re.compile(r"[a-z0-9_+;-]{1,40}")
_QID = re.compile(r"Q[1-9][0-9]*", re.ASCII)
_is_url = URLValidator(schemes=["http", "https"])

Tags = Mapping[str, str]


def rows(stream: BinaryIO) -> Iterator[Any]:
    """The features of a FeatureCollection, one in memory at a time. Raises UnreadableFileError."""
    is_empty, begin = True, stream.tell()
    check_depth(stream)
    stream.seek(begin)
    try:
        for feature in ijson.items(stream, "features.item", use_float=True):
            is_empty = False
            yield feature
        if is_empty:
            stream.seek(begin)
            if not any(event == ("features", "start_array", None) for event in ijson.parse(stream)):
                raise UnreadableFileError("This is no GeoJSON FeatureCollection: it has no list of `features`.")
    except (ijson.JSONError, UnicodeDecodeError) as error:
        said = error.args[0] if error.args else ""
        # Of bytes that are no UTF-8, ijson speaks in bytes.
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        words = text.strip().splitlines() or ["unreadable"]
        raise UnreadableFileError(f"This is no GeoJSON, or it is cut off: {words[0].rstrip('.')}.") from error


def sketch(content: Any) -> Sketch | None:
    """Which record a feature is; None when it is no place to eat. Raises RejectedError."""
    if not isinstance(content, dict):
        raise RejectedError("This is no GeoJSON feature.")
    check_storable(content)
    tags = read_tags(content)
    if not (is_eating(tags) or was_eating(tags)):
        return None
    name = name_of(tags)
    if name is None:
        raise RejectedError("The place has no name.")
    if len(name) > 200:
        raise RejectedError("The name is longer than 200 characters.")
    check_line("name", name)
    location = representative_point(content.get("geometry"))
    return Sketch(
        record=_record(content, tags, name, at=f"{location.lat:.4f},{location.lng:.4f}"),
        digest=digest_of(VERSION, tags, location.lat, location.lng),
        location=location,
        content=content,
    )


def read(sketch: Sketch, *, market: Market, on: date) -> Place:
    """All that the feature states; `on` is the day from which dated hours are read."""
    tags = read_tags(sketch.content)
    lat, lng = sketch.point
    labels = dict(_cuisine(text) for text in _parts(tags.get("cuisine", "")))
    country = tags.get("addr:country", "").upper()
    hours = tags.get("opening_hours")
    phone = tags.get("phone") or tags.get("contact:phone")
    return Place(
        record=sketch.record,
        digest=sketch.digest,
        name=name_of(tags) or "",
        alt_names=_other_names(tags),
        status=Restaurant.Status.OPEN if is_eating(tags) else Restaurant.Status.PERMANENTLY_CLOSED,
        market_id=market.slug,
        neighborhood=_fitting(tags.get("addr:suburb") or tags.get("addr:neighbourhood"), 120),
        line1=_fitting(_line1(tags), 200),
        locality=_fitting(tags.get("addr:city"), 120),
        region=_fitting(tags.get("addr:state") or tags.get("addr:province"), 120),
        postal_code=_fitting(tags.get("addr:postcode"), 20),
        country=country if re.fullmatch("[A-Z]{2}", country) else market.country,
        latitude=lat,
        longitude=lng,
        phone=read_phone(phone, country=market.country) if phone else None,
        website=_website(tags.get("website") or tags.get("contact:website")),
        cuisines=list(labels),
        cuisine_labels=labels,
        hours=_hours(hours, market=market, on=on, point=(lat, lng)) if hours else None,
        attributes=_attributes(tags),
        external_ids=_external_ids(sketch.content, tags),
    )


def read_tags(feature: Mapping[str, Any]) -> dict[str, str]:
    """The tags that have a value. Overpass nests them under `tags`, most others write them flat."""
    properties = feature.get("properties")
    if not isinstance(properties, dict):
        return {}
    nested = properties.get("tags")
    tags = {**nested, **properties} if isinstance(nested, dict) else properties
    return {key: value.strip() for key, value in tags.items() if isinstance(value, str) and value.strip()}


def is_eating(tags: Tags) -> bool:
    return bool(EATING.intersection(_parts(tags.get("amenity", "")))) and tags.get("disused") != "yes"


def was_eating(tags: Tags) -> bool:
    """A place to eat until it closed; what is something else today (a shop) still was one."""
    kinds = [tags.get(f"{past}:amenity", "") for past in PAST]
    if tags.get("disused") == "yes":
        kinds.append(tags.get("amenity", ""))
    return any(EATING.intersection(_parts(kind)) for kind in kinds)


def name_of(tags: Tags) -> str | None:
    """The name on the door, or the one that was there."""
    names = (tags.get(key) for key in ("name", *(f"{past}:name" for past in PAST), "old_name"))
    return next((name for name in names if name), None)


def _record(feature: Mapping[str, Any], tags: Tags, name: str, *, at: str) -> str:
    """The OSM id; else a register's number and the name; else name and place (to 11 m)."""
    osm_id = _osm_id(feature)
    if osm_id:
        return osm_id
    for tag, register in REGISTERS.items():
        number = tags.get(tag, "")
        if number.isascii() and number.isdigit() and len(number) <= 12:
            return f"{register}/{number}/{slugify(name)}"
    return f"at/{hashlib.sha256(f'{slugify(name)} {name.casefold()} {at}'.encode()).hexdigest()[:32]}"


def _osm_id(feature: Mapping[str, Any]) -> str | None:
    properties = feature["properties"]
    given = (feature.get("id"), properties.get("@id"), f"{properties.get('type')}/{properties.get('id')}")
    return next((text for text in given if isinstance(text, str) and _OSM_ID.fullmatch(text)), None)


def _other_names(tags: Tags) -> list[str]:
    own = name_of(tags)
    names = (name for key in sorted(tags) if _OTHER_NAME.fullmatch(key) for name in _parts(tags[key]))
    return [name for name in dict.fromkeys(names) if name != own and _fitting(name, 200)]


def _line1(tags: Tags) -> str | None:
    street = tags.get("addr:street") or tags.get("addr:place")
    number = tags.get("addr:housenumber")
    return f"{street} {number}" if street and number else street


def _website(text: str | None) -> str | None:
    if not text:
        return None
    url = text if "://" in text else f"https://{text}"
    try:
        _is_url(url)
    except ValidationError:
        return None
    return _fitting(url, 500)


def _cuisine(text: str) -> tuple[str, str]:
    """`coffee_shop` is coffee-shop, "Coffee shop"."""
    words = text.replace("_", " ").strip()
    return slugify(words)[:60].rstrip("-"), f"{words[:1].upper()}{words[1:]}"[:80]


def _attributes(tags: Tags) -> dict[str, bool | str]:
    wanted = [key for key in sorted(tags) if key in ATTRIBUTES or _DIET.fullmatch(key)]
    read = {key.replace(":", "_").replace("-", "_"): _attribute(tags[key]) for key in wanted}
    kind = next((kind for kind in _parts(tags.get("amenity", "")) if kind in EATING), None)
    return {key: value for key, value in {"kind": kind, **read}.items() if value is not None}


def _attribute(value: str) -> bool | str | None:
    """Yes and no are true and false; another single word stays as it is ("limited", "wlan")."""
    if value in ("yes", "no"):
        return value == "yes"
    return value if _WORD.fullmatch(value) else None


def _external_ids(feature: Mapping[str, Any], tags: Tags) -> dict[str, str]:
    ids = {name: tags[tag] for tag, name in EXTERNAL_IDS.items() if tag in tags}
    ids = {name: text for name, text in ids.items() if _QID.fullmatch(text) or not name.endswith("wikidata")}
    osm_id = _osm_id(feature)
    return ids | {"osm": osm_id} if osm_id else ids


def _hours(text: str, *, market: Market, on: date, point: tuple[float, float]) -> dict[str, Any]:
    kept = holidays.holidays_for_hours(text, market=market.slug, first=on, days=HORIZON_DAYS)
    return read_osm(text, timezone=market.timezone, on=on, point=point, holidays=kept).to_json()


def _parts(text: str) -> list[str]:
    """The values of `a;b`."""
    return [part.strip() for part in text.split(";") if part.strip()]


def _fitting(text: str | None, length: int) -> str | None:
    """The text, where the column takes it whole, and in one line: half an address is none."""
    return text if text and len(text) <= length and is_line(text) else None
