"""Saved filters of the lists of the back office."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from accounts import saved_filters
from accounts.models import SavedFilter, User, Venue
from tests.support import builders, users

pytestmark = pytest.mark.django_db

ORDERS = "/admin/orders/order/"


def our_staff(group: str) -> Client:
    person = users.user(is_staff=True)
    person.groups.add(Group.objects.get_or_create(name=group)[0])
    return users.signed_in(person)


def save(client: Client, name: str = "Late", query: str = "status__exact=pending&q=x&o=-1", **more: Any) -> Any:
    return client.post("/admin/saved/orders_order", {"name": name, "query": query, **more})


def test_a_saved_filter_leads_to_the_same_list(venue: Venue) -> None:
    support = our_staff("Support")
    answer = save(support, query="status__exact=pending&q=table%201&o=-1&p=3&e=1")
    assert answer["Location"] == f"{ORDERS}?status__exact=pending&o=-1"
    link = 'href="?status__exact=pending&amp;o=-1">Late</a>'
    assert link in support.get(ORDERS).content.decode()
    assert link not in support.get("/admin/reservations/reservation/").content.decode()
    index = support.get("/admin/").content.decode()
    assert f'<a href="{ORDERS}?status__exact=pending&amp;o=-1">Late</a>' in index
    save(support, query="status__exact=completed")
    assert SavedFilter.objects.get().query == "status__exact=completed"


def test_only_filters_of_the_list_are_saved_and_nothing_that_names_a_person() -> None:
    sent = {"name": "Today", "query": "day=today&q=moller&customer_email__icontains=moller&status__exact=pending"}
    builders.staff().post("/admin/saved/reservations_reservation", sent)
    assert SavedFilter.objects.get().query == "day=today&status__exact=pending"


@pytest.mark.exhaustive
def test_others_see_a_saved_filter_only_if_it_is_shared_and_of_a_list_that_they_may_view() -> None:
    support, other, finance = our_staff("Support"), our_staff("Support"), our_staff("Finance")
    save(support, "Own")
    save(support, "Shared", is_shared="on")
    for client, on_index in ((support, (True, True)), (other, (False, True)), (finance, (False, False))):
        page = client.get("/admin/").content.decode()
        assert (">Own</a>" in page, ">Shared</a>" in page) == on_index
    page = other.get(ORDERS).content.decode()
    assert (">Own</a>" in page, ">Shared</a>" in page) == (False, True)
    assert save(finance).status_code == 403
    assert finance.post("/admin/saved/orders_ordr", {"name": "x"}).status_code == 404
    assert other.get("/admin/saved/orders_order").status_code == 405


@pytest.mark.exhaustive
def test_an_owner_deletes_a_saved_filter_and_a_superuser_a_shared_one() -> None:
    support, other = our_staff("Support"), our_staff("Support")
    for number, client, status in ((1, other, 404), (2, support, 302), (3, builders.staff(), 302)):
        save(support, f"Number {number}", is_shared="on")
        key = SavedFilter.objects.get(name=f"Number {number}").pk
        assert client.post(f"/admin/saved/{key}/delete").status_code == status
    assert [row.name for row in SavedFilter.objects.all()] == ["Number 1"]


def test_a_filter_that_does_not_work_any_more_says_so() -> None:
    staff = builders.staff()
    save(staff, "Old", query="status__unknown=1")
    answer = staff.get(f"{ORDERS}?status__unknown=1", follow=True)
    assert (answer.status_code, "A filter of this address no longer exists" in answer.content.decode()) == (
        200,
        True,
    )
    assert staff.get(f"{ORDERS}?venue__account__name=x").status_code == 400
    user = User.objects.get()
    SavedFilter.objects.create(
        user=user, list_name="orders_gone", name="Gone", created_at=user.date_joined, is_shared=True
    )
    assert "this list no longer exists" in staff.get("/admin/").content.decode()
    assert "Gone" not in our_staff("Support").get("/admin/").content.decode()


@pytest.mark.parametrize("sent", [{"name": ""}, {"name": "x" * 61}, {"name": "x", "query": "q=" + "x" * 2000}])
def test_a_name_or_an_address_that_is_too_long_is_refused_in_words(sent: dict[str, str]) -> None:
    staff = builders.staff()
    answer = staff.post("/admin/saved/orders_order", {"query": "", **sent})
    assert (answer["Location"], len(builders.messages_of(answer))) == (ORDERS, 1)
    assert not SavedFilter.objects.exists()


def test_a_user_saves_a_limited_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_filters, "MAX_OF_USER", 1)
    staff = builders.staff()
    save(staff, "One")
    assert builders.messages_of(save(staff, "Two"))[-1] == (
        "You have 1 saved filters. Delete some on the front page first."
    )
    assert SavedFilter.objects.count() == 1


def test_filters_are_folded_until_one_is_chosen_and_only_then_saved(venue: Venue) -> None:
    support = our_staff("Support")
    # There is nothing to filter in an empty list.
    assert 'id="changelist-filter"' not in support.get(ORDERS).content.decode()
    builders.order(venue)
    folded = support.get(ORDERS).content.decode()
    assert ('<details class="filters" id="changelist-filter">' in folded, "Save filter" in folded) == (True, False)
    chosen = builders.staff().get("/admin/reservations/table/?is_active__exact=1").content.decode()
    assert ('id="changelist-filter" open>' in chosen, "Save filter" in chosen) == (True, True)
    assert '<span class="chosen"><span>Active</span> Yes</span>' in chosen
    assert "Nothing matches" in chosen


def test_the_first_filter_of_orders_is_always_above_the_list(venue: Venue) -> None:
    chosen = our_staff("Support").get(f"{ORDERS}?status__exact=pending").content.decode()
    first = chosen[chosen.index('<div class="first-filter">') :]
    assert '<a href="?status__exact=pending" aria-current="true">Pending</a>' in first
    assert ('id="changelist-filter" open>' in chosen, "Save filter" in chosen) == (False, True)
