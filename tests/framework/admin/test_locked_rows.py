"""Staff who come to a row that somebody else is writing."""

import threading

import pytest
from django.db import connection, transaction

import tests.support.builders
from catalogue.models import Restaurant, Version
from tests.catalogue import builders
from tests.catalogue.html import address


def hold(place: Restaurant, *, is_held: threading.Event, is_over: threading.Event) -> None:
    try:
        with transaction.atomic():
            Restaurant.objects.select_for_update().get(pk=place.pk)
            is_held.set()
            is_over.wait(10)
    finally:
        connection.close()


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_staff_get_a_message_when_another_transaction_writes_the_row() -> None:
    staff = tests.support.builders.staff()
    place, other = builders.restaurant(slug="noma"), builders.restaurant(slug="geranium")
    list_of_all = address(Restaurant, "changelist")
    is_held, is_over = threading.Event(), threading.Event()
    thread = threading.Thread(target=hold, args=[place], kwargs={"is_held": is_held, "is_over": is_over})
    thread.start()
    is_held.wait()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 200")
        chosen = [str(place.pk), str(other.pk)]
        for action, fields in (("close_temporarily", {}), ("merge", {"survivor": str(place.pk)})):
            sent = {"action": action, "_selected_action": chosen, "confirmed": "Yes", **fields}
            answer = staff.post(list_of_all, sent)
            assert answer.status_code == 503
            page = answer.content.decode()
            assert (
                "Another user or process is changing this record. Nothing was changed. Try again in a moment." in page
            )
            assert f'<a href="{list_of_all}">Back</a>' in page
    finally:
        is_over.set()
        thread.join()
        connection.close()
    assert set(Restaurant.objects.values_list("status", "version", "merged_into")) == {("open", 1, None)}
    assert Version.objects.count() == 2
