"""Statuses as coloured badges with their text, as on the dashboard (templates of pages.css)."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

# The colour of each value; others are grey.
COLOURS = {
    **dict.fromkeys(
        (
            "open",
            "completed",
            "confirmed",
            "delivered",
            "done",
            "succeeded",
            "verified",
            "active",
            "applied",
            "written",
        ),
        "good",
    ),
    **dict.fromkeys(("pending", "queued", "running", "claimed", "code_sent", "refunded", "upcoming"), "info"),
    **dict.fromkeys(
        ("settled", "refund_due", "awaiting_payment", "temporarily_closed", "unverified", "waiting", "stopped"), "warn"
    ),
    **dict.fromkeys(("cancelled", "failed", "permanently_closed", "revoked", "refused", "rejected", "no_show"), "bad"),
    **dict.fromkeys(("expired", "ended", "dismissed", "distinct", "merged", "erased", "moved", "dropped"), "soft"),
}


def badge(text: object, colour: str = "") -> SafeString:
    """Return the text as a badge; the style makes its first letter a capital. Colours: good, warn, bad, info, soft."""
    return format_html('<span class="badge {}">{}</span>', colour, text)


def badge_column(
    field: str, description: str, *, ordering: str | None = None, **colours: str
) -> Callable[[Any, Any], SafeString | str]:
    """Return a column with the label of a field with choices; `colours` differ from those of COLOURS."""

    @admin.display(description=description, ordering=ordering)
    def show(_: Any, row: Any) -> SafeString | str:
        value = getattr(row, field)
        if value in (None, ""):
            # Not None: the page of a row would show the word.
            return ""
        return badge(getattr(row, f"get_{field}_display")(), {**COLOURS, **colours}.get(value, ""))

    return show


def short_id(public_id: str) -> SafeString:
    """Return the end of an id, because ids of the same time begin alike; the tooltip is the whole id."""
    return format_html('<span class="id" title="{}">{}_…{}</span>', public_id, public_id.split("_")[0], public_id[-6:])
