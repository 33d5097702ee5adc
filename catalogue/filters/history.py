"""The parameters of what a restaurant was, and of the feed of changes."""

from typing import Any

from catalogue.filters.fields import MOMENT, Listed, MarketSlug, Parameters, Read, Whole, Word, moment
from catalogue.filters.records import Selection
from catalogue.models import Version
from config.api.fields import Text


class PastMoment(Read):
    """A moment of RFC 3339; read as a datetime in UTC."""

    def __init__(self, **options: Any) -> None:
        hint = "This must be a moment like 2026-11-21T19:30:00Z; write the + of an offset as %2B."
        super().__init__(pattern=f"^{MOMENT}$", hint=hint, **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the moment."""
        return moment(super().to_internal_value(data))


class LookBack(Selection):
    """The parameters of GET /v1/restaurants/{slug}."""

    at = PastMoment(
        required=False,
        help_text="Only with `core`: as it was at this moment, to the microsecond. Sold as `history`.",
    )


class Versions(Parameters):
    """The parameters of GET /v1/restaurants/{slug}/history."""

    limit = Whole(required=False, default=20, min_value=1, max_value=100, help_text="Versions on a page.")
    cursor = Text(required=False, max_length=400, help_text="`next_cursor` of the page before; good for an hour.")


class Changes(Parameters):
    """The parameters of GET /v1/changes."""

    since = Whole(
        required=False,
        default=0,
        min_value=0,
        max_value=10**15 - 1,
        help_text="`next_since` of the page before; without it the feed begins with its oldest change.",
    )
    limit = Whole(required=False, default=100, min_value=1, max_value=1000, help_text="Changes on a page.")
    market = MarketSlug(required=False, help_text="A slug of GET /v1/markets.")
    type = Listed(
        required=False,
        of="|".join(Version.Kind.values),
        max_length=100,
        hint=f"This must be some of these with commas between them: {', '.join(Version.Kind.values)}.",
        help_text=f"With commas between them: {', '.join(Version.Kind.values)}.",
    )
    include = Word(
        choices=["record"],
        required=False,
        help_text="`record`: with the free fields of the restaurant as they are now.",
    )
