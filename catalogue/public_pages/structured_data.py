"""The record of a restaurant as schema.org/Restaurant in JSON-LD, for search engines."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import orjson
from django.utils.safestring import SafeString, mark_safe

from catalogue.public_pages.labels import price_sign, web_address
from catalogue.public_pages.venues import GuestPages
from framework.api.urls import public_url

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MAX_SPECIAL_DAYS = 30
# Inside of a script element, in which no text may end it or begin a comment.
ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def restaurant_json_ld(
    core: Mapping[str, Any],
    *,
    url: str,
    cuisines: Sequence[str],
    pages: GuestPages,
    is_in_business: bool,
    today: date,
) -> SafeString:
    """Return the content of a script element of the type application/ld+json. What is not known is left out."""
    address, location = core["address"], core["location"]
    values: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Restaurant",
        "@id": url,
        "url": url,
        "name": core["name"],
        "alternateName": core["alt_names"],
        "description": core["description"],
        "telephone": core["phone"],
        "sameAs": core["website"],
        "priceRange": price_sign(core["price_level"]),
        "servesCuisine": cuisines,
        "address": {
            "@type": "PostalAddress",
            **_present(
                streetAddress=address["line1"],
                addressLocality=address["locality"],
                addressRegion=address["region"],
                postalCode=address["postal_code"],
                addressCountry=address["country"],
            ),
        },
        "geo": location and {"@type": "GeoCoordinates", "latitude": location["lat"], "longitude": location["lng"]},
        "openingHoursSpecification": _opening_hours(core["hours"], today=today) if is_in_business else [],
        "image": pages.photo and public_url(pages.photo),
        "acceptsReservations": pages.book and public_url(pages.book),
        "hasMenu": public_url(pages.order) if pages.order else web_address(core["menu_url"]),
    }
    if core["rating"] and core["review_count"]:
        values["aggregateRating"] = {
            "@type": "AggregateRating",
            "ratingValue": core["rating"],
            "bestRating": 5,
            "worstRating": 1,
            "reviewCount": core["review_count"],
        }
    actions = {"ReserveAction": pages.book, "OrderAction": pages.order}
    values["potentialAction"] = [
        {"@type": action, "target": public_url(path)} for action, path in actions.items() if path
    ]
    escaped = orjson.dumps(_present(**values)).decode().translate(ESCAPES)
    return mark_safe(escaped)  # noqa: S308  # nosemgrep: html-is-escaped


def _present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _opening_hours(hours: Mapping[str, Any], *, today: date) -> list[dict[str, Any]]:
    """Return the weekly periods, those of the same times together, and the special days from today on."""
    days_by_times: dict[tuple[str, str], list[str]] = {}
    for period in hours["periods"]:
        opens, closes = period["open"], period["close"]
        days_by_times.setdefault(_times(opens["time"], closes["time"]), []).append(WEEKDAYS[opens["day"]])
    weekly = [
        {"@type": "OpeningHoursSpecification", "dayOfWeek": days, "opens": opens, "closes": closes}
        for (opens, closes), days in days_by_times.items()
    ]
    special = [
        {
            "@type": "OpeningHoursSpecification",
            "validFrom": day["date"],
            "validThrough": day["date"],
            "opens": opens,
            "closes": closes,
        }
        for day in [day for day in hours["special_days"] if day["date"] >= today.isoformat()][:MAX_SPECIAL_DAYS]
        # Equal times mean closed.
        for opens, closes in [_times(span["open"], span["close"]) for span in day["periods"]] or [("00:00", "00:00")]
    ]
    return weekly + special


def _times(opens: str, closes: str) -> tuple[str, str]:
    """Return the times of a period; of a whole day up to its last minute."""
    return (opens, "23:59") if opens == closes == "00:00" else (opens, closes)
