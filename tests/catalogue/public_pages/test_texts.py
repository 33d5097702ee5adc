"""No text of the pages stands in English among the others."""

from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
import time_machine
from django.test import Client

from catalogue.hours import open_intervals
from tests.catalogue import builders
from tests.catalogue.builders import NOW, TIVOLI
from tests.languages import pseudo

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]

KNOWN = (
    # Names, words of the data and of search engines, and days and months by Babel.
    r"Tablewire|Fiskebar|Nabo|Copenhagen|copenhagn|Seafood|Europe/Copenhagen|USDC"
    r"|ma\b|di\b|wo\b|do\b|vr\b|za\b|zo\b|nov\b|km\b|https?://\S+"
)


def test_each_text_of_the_pages_is_marked_for_translation(client: Client, tmp_path: Path) -> None:
    with time_machine.travel(NOW, tick=False), pseudo.activated(tmp_path):
        builders.landmark("Tivoli", kind="park", market="copenhagen")
        builders.attribute("wheelchair")
        builders.attribute("diet_vegan")
        fields = {"attributes": {"wheelchair": "limited"}, "rating": "4.5", "review_count": 2, "price_level": 2}
        fields["menu_url"] = "https://fiskebar.example/menu"
        place = builders.restaurant(slug="fiskebar", name="Fiskebar", hours=builders.week("12:00", "23:00"), **fields)
        builders.restaurant(slug="nabo", name="Nabo", latitude=TIVOLI[0] + 0.001)
        builders.listing(place)
        builders.slot(place, starts_at=NOW + timedelta(hours=1))
        open_intervals.refresh_open_intervals(now=NOW)
        for path in (
            "/restaurants?",
            "/restaurants?near=tivoli&",
            "/restaurants?q=copenhagen seafood&price=2&",
            "/restaurants?market=copenhagen&rating_min=5&",
            "/restaurants?market=copenhagn&",
            "/restaurants/fiskebar?",
            "/restaurants/nabo?",
            "/restaurants/none?",
        ):
            page = unescape(client.get(f"{path}lang={pseudo.LANGUAGE}").content.decode())
            assert f'<html lang="{pseudo.LANGUAGE}"' in page
            assert pseudo.find_unmarked(page, known=KNOWN) == [], path
