"""docs/menus.md shows what is answered."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.utils import timezone

from accounts.models import Venue
from orders.demo import menu
from orders.models import OrderingSettings
from tests.support import builders

PAGE = (Path(settings.BASE_DIR) / "docs" / "menus.md").read_text()
MADE_UP = ("id", "request_id")


def steady(answer: Any) -> Any:
    """Without what each call makes up."""
    if isinstance(answer, dict):
        return {name: None if name in MADE_UP else steady(value) for name, value in answer.items()}
    return answer


@pytest.fixture
def shown() -> list[Any]:
    """The answers of the page: an order, and a refusal."""
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def test_the_request_in_it_is_answered_as_shown(venue: Venue, shown: list[Any]) -> None:
    menu.add_menu(venue, now=timezone.now())
    OrderingSettings.objects.get_or_create(venue=venue)
    request, *_ = re.findall(r"-d '(\{.*?\})'", PAGE, re.DOTALL)
    body = json.loads(request)
    unknown = body | {"items": [{"menu_item_id": "margarita", "quantity": 1}]}
    with time_machine.travel(datetime(2026, 11, 21, 18, 4, 5, tzinfo=UTC), tick=False):
        answers = [
            builders.client(venue).post("/api/v1/orders", sent, content_type="application/json").json()
            for sent in (body, unknown)
        ]
    assert [steady(answer) for answer in answers] == [steady(answer) for answer in shown]
