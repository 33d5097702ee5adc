"""What the database itself keeps of a row's past: each change, whoever and whatever made it."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pghistory.core import event_models

from accounts.models import ApiKey, Venue
from framework.db import actor
from orders.models import Menu, MenuCategory, MenuItem
from tests.support import builders

pytestmark = pytest.mark.django_db


def changes(model: Any) -> list[tuple[str, str | None]]:
    """What happened to the model's rows and who did it, oldest first."""
    of_model: Any = next(iter(event_models(tracks_model=model)))
    return list(of_model.objects.order_by("pgh_id").values_list("pgh_label", "pgh_context__actor"))


def test_a_dish_remembers_how_it_was_also_when_many_are_changed_at_once_or_in_sql() -> None:
    menu = Menu.objects.create(venue=builders.venue())
    part = MenuCategory.objects.create(menu=menu, name="Starters")
    dish = builders.dish(menu, "soup", "4.50", category=part)
    MenuItem.objects.filter(pk=dish.pk).update(price="5.00")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE orders_menuitem SET name = 'Soup of the day' WHERE id = %s", [dish.pk])
        cursor.execute("DELETE FROM orders_menuitem WHERE id = %s", [dish.pk])
        cursor.execute("SELECT pgh_label, price, name FROM orders_menuitemchange ORDER BY pgh_id")
        remaining = [(label, f"{price:.2f}", name) for label, price, name in cursor.fetchall()]
    assert remaining == [
        ("added", "4.50", dish.name),
        ("changed", "4.50", dish.name),
        ("changed", "5.00", dish.name),
        ("removed", "5.00", "Soup of the day"),
    ]


def test_a_change_that_changes_nothing_is_none() -> None:
    venue = builders.venue()
    Venue.objects.filter(pk=venue.pk).update(name=venue.name)
    assert changes(Venue) == [("added", None)]


def test_use_of_a_key_adds_no_history_row_and_history_has_no_digest() -> None:
    key = ApiKey.create(builders.venue(), name="till").row
    assert key.record_use(now=timezone.now(), address="192.0.2.1")
    assert changes(ApiKey) == [("added", None)]
    assert key.revoke(now=timezone.now())
    assert changes(ApiKey) == [("added", None), ("changed", None)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_name LIKE '%change'"
            " AND (column_name LIKE '%secret%' OR column_name LIKE '%digest%' OR column_name LIKE 'last_used%')"
        )
        assert [row for row in cursor.fetchall() if not row[1].endswith("_until")] == []


@pytest.mark.django_db(transaction=True)
def test_who_acts_is_written_beside_each_change_of_the_block_and_of_no_other() -> None:
    venue = builders.venue()
    with actor.acting_as("staff:ada@example.com"):
        Venue.objects.filter(pk=venue.pk).update(name="Alone")
        with transaction.atomic():
            Venue.objects.filter(pk=venue.pk).update(name="Together")
            with pytest.raises(ZeroDivisionError), transaction.atomic():
                raise ZeroDivisionError
            Venue.objects.filter(pk=venue.pk).update(name="After what was taken back")
        with transaction.atomic():
            venue.refresh_from_db()
            Venue.objects.filter(pk=venue.pk).update(name="In another transaction")
    Venue.objects.filter(pk=venue.pk).update(name="Nobody said who")
    with transaction.atomic():
        actor.set_actor("import:menu")
        Venue.objects.filter(pk=venue.pk).update(name="By the import")
    ada = ("changed", "staff:ada@example.com")
    assert changes(Venue) == [("added", None), ada, ada, ada, ada, ("changed", None), ("changed", "import:menu")]


def test_a_block_within_a_transaction_names_who_acts_to_its_own_end() -> None:
    venue = builders.venue()
    with actor.acting_as("staff:ada@example.com"):
        Venue.objects.filter(pk=venue.pk).update(name="One")
    Venue.objects.filter(pk=venue.pk).update(name="Two")
    assert changes(Venue) == [("added", None), ("changed", "staff:ada@example.com"), ("changed", None)]


def test_reads_cost_no_more_queries_while_an_actor_is_set(django_assert_num_queries: Any) -> None:
    builders.venue()
    with django_assert_num_queries(3), actor.acting_as("staff:ada@example.com"):
        # Within the test's own transaction the name is written once, and taken back at the end.
        list(Venue.objects.all())


def test_a_key_that_ends_sooner_shows_its_former_end() -> None:
    end = timezone.now() + timedelta(days=3)
    key = builders.key(builders.venue(), expires_at=end).row
    ApiKey.objects.filter(pk=key.pk).update(expires_at=end - timedelta(days=1))
    with connection.cursor() as cursor:
        cursor.execute("SELECT expires_at FROM accounts_apikeychange WHERE pgh_label = 'changed'")
        assert cursor.fetchall() == [(end,)]
