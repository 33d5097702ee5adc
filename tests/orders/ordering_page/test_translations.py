"""Names of categories and charges are shown in the guest's language."""

from decimal import Decimal

import pytest
from django.utils import translation

from framework.languages import translate
from orders.models import ChargeRule, MenuItem
from tests.orders.ordering_page.test_ordering_page import Guest, entered, pizzeria

pytestmark = pytest.mark.django_db


def test_names_of_categories_and_charges_are_translated() -> None:
    menu = pizzeria()
    menu.categories.update(translations={"da": {"name": "Retter"}})
    ChargeRule.objects.create(
        venue=menu.venue, name="Bag", type="fee", amount=Decimal("0.50"), translations={"da": {"name": "Pose"}}
    )
    MenuItem.objects.filter(ref="acqua").update(sold_out_on=None)
    for language, category, charge in (("da", "Retter", "Pose"), ("en", "Dishes", "Bag")):
        guest = Guest(menu, language=language)
        assert f">{category}<" in guest.response.content.decode()
        guest.press("add:acqua")
        guest.press("checkout")
        assert f">{charge}<" in guest.response.content.decode()
        guest.press("place", **entered())
        guest.follow()
        assert f">{charge}<" in guest.response.content.decode()


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ({"de-AT": {"name": "Erdäpfel"}}, "Erdäpfel"),
        ({"de-AT": {"name": "Erdäpfel"}, "de": {"name": "Kartoffeln"}}, "Kartoffeln"),
        ({"de-AT": {"name": "Erdäpfel"}, "de": {"name": ""}}, "Erdäpfel"),
        ({"den": {"name": "Other"}, "da": {"name": "Kartofler"}}, "Potatoes"),
    ],
)
def test_a_translation_for_a_region_is_shown_where_the_language_has_none(
    texts: dict[str, dict[str, str]], shown: str
) -> None:
    with translation.override("de"):
        assert translate(texts, "name", "Potatoes") == shown
