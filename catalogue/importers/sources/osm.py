"""OpenStreetMap as GeoJSON with the raw tags as properties: places to eat and drink."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from typing import Any

from catalogue.importers.parsing import text_cleaning
from catalogue.importers.parsing.geojson import find_point, read_features
from catalogue.importers.parsing.parsed_place import ExtractedRecord, ParsedPlace, build_place, read_osm_hours
from catalogue.importers.row_errors import (
    NOT_AN_EATERY,
    HotelFound,
    RowRejected,
    RowSkipped,
    check_single_line,
    clean_content,
    hash_content,
)
from catalogue.importers.staging import HASH_LENGTH
from catalogue.importers.upsert import SourceReader
from catalogue.models import Market, Restaurant
from catalogue.models.restaurants import KINDS
from catalogue.places.phones import read_phone
from catalogue.places.slugs import slugify

# Part of every digest: raise it when this module reads more columns, and the next import updates all rows.
VERSION = 4

# Values of `tourism`.
HOTELS = ("hotel", "motel", "hostel", "guest_house")
EATERY_KINDS = frozenset(KINDS)

# Prefixes of the tags of closed places (wiki.openstreetmap.org/wiki/Lifecycle_prefix).
LIFECYCLE_PREFIXES = ("disused", "abandoned", "was", "closed", "demolished", "removed", "razed")

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
_HSTORE = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=>\s*"((?:[^"\\]|\\.)*)"')
_QID = re.compile(r"Q[1-9][0-9]*", re.ASCII)

OSM_TYPES = {"n": "node/", "w": "way/", "r": "relation/"}

Tags = Mapping[str, str]

# The tags that the importer reads, apart from names and diets.
ADDRESS_KEYS = tuple(
    f"addr:{part}"
    for part in (
        "street", "place", "housenumber", "city", "state", "province", "postcode", "country", "suburb",
        "neighbourhood",
    )
)  # fmt: skip
READ_KEYS = frozenset(
    (
        "amenity", "name", "old_name", "disused", "cuisine", "opening_hours", "phone", "contact:phone", "website",
        "contact:website", "tourism", *ADDRESS_KEYS, *ATTRIBUTES, *EXTERNAL_IDS,
        *(f"{past}:{key}" for past in LIFECYCLE_PREFIXES for key in ("amenity", "name")),
    )
)  # fmt: skip
NAME_KEYS = ("alt_name", "short_name", "official_name", "loc_name")
DIETS = (
    "dairy_free", "fruitarian", "gluten_free", "halal", "healthy", "kosher", "lactose_free", "local", "meat",
    "nut_free", "organic", "ovo_vegetarian", "pescetarian", "raw", "vegan", "vegetarian", "whole_food",
)  # fmt: skip
# Tags that the importer does not read, but that look like one in a shapefile. Others sort after the one that it reads,
# and then get another name in it.
SIMILAR_KEYS = ("addr:county", "diet:lacto_vegetarian", "ref:DK:cvr")
# `addr:housenumber` or `addr:housename`: a number if it begins with a digit.
HOUSE_KEY = "addr_house"
# Shapefiles cut the names of columns.
SHAPEFILE_KEY_LENGTH = 10
# Properties that are no tags.
META_KEYS = frozenset(
    ("@id", "@type", "fid", "full_id", "geometry", "id", "meta", "osm_id", "osm_type", "osm_way_id", "other_tags",
     "relations", "tags", "type")
)  # fmt: skip


def _flatten_key(key: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", key.casefold())


def _build_aliases() -> dict[str, str]:
    """Map the keys that GIS tools write, which have no colons, to tags: `addr_street`, `ADDR_HOUSE`, `diet_vegan`.

    A cut key is known only if no other common tag begins like it.
    """
    read = [*READ_KEYS, *NAME_KEYS, *(f"diet:{diet}" for diet in DIETS)]
    cut: dict[str, set[str]] = defaultdict(set)
    for key in (*read, *SIMILAR_KEYS):
        cut[_flatten_key(key)[:SHAPEFILE_KEY_LENGTH]].add(key)
    unique = {short: next(iter(keys)) for short, keys in cut.items() if len(keys) == 1}
    return {short: key for short, key in unique.items() if key in read} | {_flatten_key(key): key for key in read}


ALIASES = _build_aliases()


def extract(content: Any) -> ExtractedRecord:
    """Extract the record of a feature. Raises RowRejected, HotelFound, and RowSkipped if it is no eatery."""
    if not isinstance(content, dict):
        raise RowRejected("This is no GeoJSON feature.")
    content = clean_content(content)
    tags = read_tags(content)
    if not (is_eatery(tags) or was_eatery(tags)):
        if tags.get("tourism") in HOTELS and (hotel := tags.get("name")):
            raise HotelFound(hotel, find_point(content.get("geometry")), aliases=tuple(_parse_alt_names(tags)))
        raise RowSkipped(NOT_AN_EATERY)
    name = read_name(tags)
    if name is None:
        raise RowRejected("The place has no name.")
    if len(name) > 200:
        raise RowRejected("The name is longer than 200 characters.")
    check_single_line("name", name)
    location = find_point(content.get("geometry"))
    return ExtractedRecord(
        record=_record_id(content, tags, name, at=f"{location.lat:.4f},{location.lng:.4f}"),
        digest=hash_content(VERSION, tags, location.lat, location.lng),
        location=location,
        content=content,
    )


def parse(extracted: ExtractedRecord, *, market: Market, on: date) -> ParsedPlace:
    """Parse a feature; `on` is the date from which dated hours are read."""
    tags = read_tags(extracted.content)
    hours = tags.get("opening_hours")
    phone = tags.get("phone") or tags.get("contact:phone")
    return build_place(
        extracted,
        market=market,
        name=read_name(tags) or "",
        alt_names=_parse_alt_names(tags),
        status=Restaurant.Status.OPEN if is_eatery(tags) else Restaurant.Status.PERMANENTLY_CLOSED,
        neighborhood=tags.get("addr:suburb") or tags.get("addr:neighbourhood"),
        line1=_parse_line1(tags),
        locality=tags.get("addr:city"),
        region=tags.get("addr:state") or tags.get("addr:province"),
        postal_code=tags.get("addr:postcode"),
        country=tags.get("addr:country"),
        phone=read_phone(phone, country=market.country) if phone else None,
        website=text_cleaning.parse_website(tags.get("website") or tags.get("contact:website")),
        cuisine_labels=dict(_parse_cuisine(text) for text in _split_values(tags.get("cuisine", ""))),
        hours=read_osm_hours(hours, market=market, on=on, point=extracted.point).to_json() if hours else None,
        attributes=_parse_attributes(tags),
        external_ids=_parse_external_ids(extracted.content, tags),
    )


def read_tags(feature: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags that have a value, under the keys of OpenStreetMap, whatever tool has written them.

    Overpass nests them under `tags`, ogr2ogr puts some into `other_tags`, and GIS formats have keys without colons.
    Numbers and booleans become texts, and a list `a;b`.
    """
    properties = feature.get("properties")
    if not isinstance(properties, dict):
        return {}
    nested = properties.get("tags")
    tags = {**nested, **properties} if isinstance(nested, dict) else properties
    tags = {**_parse_hstore(properties.get("other_tags")), **tags}
    values = {key: text for key, value in tags.items() if key not in META_KEYS and (text := _to_text(value))}
    renamed = {key: _find_key(key, text) for key, text in values.items()}
    # A key in its own form counts more than one that another tool has changed.
    return {renamed[key]: text for key, text in values.items()} | {
        key: text for key, text in values.items() if renamed[key] == key
    }


def unread_keys(feature: Mapping[str, Any]) -> list[str]:
    """Return the keys of a feature with a value that the importer does not read."""
    return [
        key
        for key in read_tags(feature)
        if key not in READ_KEYS and not _OTHER_NAME.fullmatch(key) and not _DIET.fullmatch(key)
    ]


def _find_key(key: str, text: str) -> str:
    """Return the tag that a key is, judged by its value if necessary; an unknown key as it is."""
    if key in READ_KEYS or _OTHER_NAME.fullmatch(key) or _DIET.fullmatch(key):
        return key
    flat = _flatten_key(key)
    if flat == HOUSE_KEY:
        return "addr:housenumber" if text[:1].isdigit() else "addr:housename"
    if flat in ALIASES:
        return ALIASES[flat]
    # A name in another language: `name_en`.
    other_name = re.sub("^name_", "name:", flat)
    return other_name if _OTHER_NAME.fullmatch(other_name) else key


def _to_text(value: object) -> str:
    """Return a value of a tag as a text; empty for null and objects."""
    match value:
        case str():
            return value.strip()
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
        case list():
            return ";".join(text for each in value if (text := _to_text(each)))
    return ""


def _parse_hstore(text: object) -> dict[str, str]:
    """Parse the text `"addr:street"=>"Gade","cuisine"=>"pizza"`."""
    pairs = _HSTORE.findall(text) if isinstance(text, str) else []
    return {re.sub(r"\\(.)", r"\1", key): re.sub(r"\\(.)", r"\1", value) for key, value in pairs}


def is_eatery(tags: Tags) -> bool:
    return bool(EATERY_KINDS.intersection(_split_values(tags.get("amenity", "")))) and tags.get("disused") != "yes"


def was_eatery(tags: Tags) -> bool:
    """Whether it was an eatery until it closed, even if it is something else today, such as a shop."""
    kinds = [tags.get(f"{past}:amenity", "") for past in LIFECYCLE_PREFIXES]
    if tags.get("disused") == "yes":
        kinds.append(tags.get("amenity", ""))
    return any(EATERY_KINDS.intersection(_split_values(kind)) for kind in kinds)


def read_name(tags: Tags) -> str | None:
    """Return the current name, or the former one."""
    names = (tags.get(key) for key in ("name", *(f"{past}:name" for past in LIFECYCLE_PREFIXES), "old_name"))
    return next((name for name in names if name), None)


def _record_id(feature: Mapping[str, Any], tags: Tags, name: str, *, at: str) -> str:
    """Return the OSM id; else a register's number and the name; else a hash of the name and the location (to 11 m).

    Of the last kind, a record that moved a little is found again by its beginning (adopt_moved_records.sql).
    """
    osm_id = _osm_id(feature)
    if osm_id:
        return osm_id
    for tag, register in REGISTERS.items():
        number = tags.get(tag, "")
        if number.isascii() and number.isdigit() and len(number) <= 12:
            return f"{register}/{number}/{slugify(name)}"
    return f"at/{hashlib.sha256(f'{slugify(name)} {name.casefold()}'.encode()).hexdigest()[:HASH_LENGTH]}/{at}"


def _osm_id(feature: Mapping[str, Any]) -> str | None:
    properties = {str(key).casefold(): value for key, value in feature["properties"].items()}
    full_id = re.sub("^([nwr])(?=[0-9])", lambda kind: OSM_TYPES[kind[0]], str(properties.get("full_id", "")))
    candidates = (
        feature.get("id"),
        properties.get("@id"),
        full_id,
        *(
            f"{properties.get(kind)}/{_to_text(properties.get(number))}"
            for kind, number in (("type", "id"), ("@type", "@id"), ("osm_type", "osm_id"))
        ),
    )
    return next((text for text in candidates if isinstance(text, str) and _OSM_ID.fullmatch(text)), None)


def _parse_alt_names(tags: Tags) -> list[str]:
    own = read_name(tags)
    names = (name for key in sorted(tags) if _OTHER_NAME.fullmatch(key) for name in _split_values(tags[key]))
    return [name for name in dict.fromkeys(names) if name != own and text_cleaning.fit_text(name, 200)]


def _parse_line1(tags: Tags) -> str | None:
    street = tags.get("addr:street") or tags.get("addr:place")
    number = tags.get("addr:housenumber")
    return f"{street} {number}" if street and number else street


def _parse_cuisine(text: str) -> tuple[str, str]:
    """`coffee_shop` is coffee-shop, "Coffee shop"."""
    words = text.replace("_", " ").strip()
    return slugify(words)[:60].rstrip("-"), f"{words[:1].upper()}{words[1:]}"[:80]


def _parse_attributes(tags: Tags) -> dict[str, bool | str]:
    keys = [key for key in sorted(tags) if key in ATTRIBUTES or _DIET.fullmatch(key)]
    parse = {key.replace(":", "_").replace("-", "_"): _parse_attribute(tags[key]) for key in keys}
    kind = next((kind for kind in _split_values(tags.get("amenity", "")) if kind in EATERY_KINDS), None)
    return {key: value for key, value in {"kind": kind, **parse}.items() if value is not None}


def _parse_attribute(value: str) -> bool | str | None:
    """Yes and no are booleans; another single word is kept ("limited", "wlan")."""
    if value in ("yes", "no"):
        return value == "yes"
    return value if _WORD.fullmatch(value) else None


def _parse_external_ids(feature: Mapping[str, Any], tags: Tags) -> dict[str, str]:
    ids = {name: tags[tag] for tag, name in EXTERNAL_IDS.items() if tag in tags}
    ids = {name: text for name, text in ids.items() if _QID.fullmatch(text) or not name.endswith("wikidata")}
    osm_id = _osm_id(feature)
    return ids | {"osm": osm_id} if osm_id else ids


def _split_values(text: str) -> list[str]:
    """Split the values of `a;b`."""
    return [part.strip() for part in text.split(";") if part.strip()]


# Extracts, not whole countries.
READER = SourceReader("osm", read_features, extract, parse, unread_keys=unread_keys)
