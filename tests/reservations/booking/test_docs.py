"""The requests and answers in docs/booking.md are those of the product."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import time_machine
from django.conf import settings
from django.test import Client

from accounts.models import Venue
from tests.support import builders

DOCUMENT = Path(settings.BASE_DIR) / "docs" / "booking.md"
PAIR = re.compile(r"```sh\ncurl .*?-d '(?P<sent>.*?)'\n```\n```json\n(?P<answered>.*?)\n```", re.DOTALL)
# New for each request.
OWN = ("id", "code", "request_id")


def without_its_own(record: dict[str, Any]) -> dict[str, Any]:
    """What is the same whenever it is asked; the code of an error stays."""
    if "error" in record:
        return {"error": {name: value for name, value in record["error"].items() if name != "request_id"}}
    return {name: value for name, value in record.items() if name not in OWN}


def test_the_document_shows_what_is_answered(venue: Venue, api: Client) -> None:
    builders.table(venue, "T4", seats_max=4)
    builders.period(venue, first="18:00", last="21:00", slot_min=30, weekdays=[5])
    pairs = [(found["sent"], found["answered"]) for found in PAIR.finditer(DOCUMENT.read_text())]
    assert len(pairs) == 3
    for sent, answered in pairs:
        with time_machine.travel(datetime(2026, 11, 21, 12, 0, tzinfo=UTC), tick=False):
            response = api.post("/api/v1/reservations", json.loads(sent), content_type="application/json")
        shown = json.loads(answered)
        assert without_its_own(response.json()) == without_its_own(shown)
        assert (response.status_code == 201) is ("error" not in shown)
