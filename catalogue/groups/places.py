"""What a place is: the free fields."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from catalogue import flow
from catalogue.geo import Location
from catalogue.hours import Hours, State
from catalogue.models import Restaurant
from catalogue.opening import CLOSED, stated
from catalogue.search import Attribution
from config.api.ids import encode


def state(restaurant: Restaurant, hours: Hours, *, at: datetime) -> State:
    """Open or not at a moment. A closure outranks the hours."""
    if restaurant.status in CLOSED:
        return State("closed", open_now=False, next_change=None)
    return hours.state(at)


def core(restaurant: Restaurant, now: datetime) -> dict[str, Any]:
    """The free fields. Two queries, for the source records and the flow offer."""
    zone = restaurant.market.timezone
    records = restaurant.source_records.select_related("source").order_by("source", "record")
    hours = stated(restaurant) or Hours(zone, periods=(), special_days=(), known=False)
    return {
        "id": encode("rst", restaurant.pk),
        "alt_names": restaurant.alt_names,
        "status": restaurant.status,
        "market": restaurant.market_id,
        "neighborhood": restaurant.neighborhood,
        "address": {
            "line1": restaurant.line1,
            "locality": restaurant.locality,
            "region": restaurant.region,
            "postal_code": restaurant.postal_code,
            "country": restaurant.country,
            "formatted": formatted(restaurant),
        },
        "location": None
        if restaurant.latitude is None or restaurant.longitude is None
        else Location(restaurant.latitude, restaurant.longitude),
        "phone": restaurant.phone,
        "phone_verified": restaurant.phone_verified_at is not None,
        "phone_verified_at": restaurant.phone_verified_at,
        "website": restaurant.website,
        "rating": restaurant.rating,
        "review_count": restaurant.review_count,
        "price_level": restaurant.price_level,
        "cuisine": restaurant.cuisine.label if restaurant.cuisine else None,
        "cuisines": restaurant.cuisines,
        "hours": {
            **hours.to_json(),
            **asdict(state(restaurant, hours, at=now)),
        },
        "attributes": restaurant.attributes,
        "flow_offer": flow.next_offers({restaurant.pk: zone}, now=now).get(restaurant.pk),
        "external_ids": restaurant.external_ids,
        "sources": [
            {
                "source": each.source_id,
                "record": each.record,
                "license": each.source.license,
                "updated_at": each.updated_at,
                "fields": each.fields,
            }
            for each in records
        ],
        "attribution": [
            Attribution(source=source.key, text=source.attribution, license=source.license)
            for source in {each.source_id: each.source for each in records}.values()
        ],
        "verified_at": restaurant.verified_at,
        "updated_at": restaurant.updated_at,
        "version": restaurant.version,
    }


def formatted(restaurant: Restaurant) -> str | None:
    """The address in one line: "Flæsketorvet 100, 1711 Copenhagen, DK"; None where only the country is known."""
    town = " ".join(part for part in (restaurant.postal_code, restaurant.locality) if part)
    parts = [part for part in (restaurant.line1, town, restaurant.region) if part]
    return ", ".join([*parts, restaurant.country]) if parts else None
