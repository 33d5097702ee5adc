"""Contacts in checkout sessions: erased with the guest, and deleted when nobody needs the session; the back office."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.lifecycle import closure
from accounts.models import IdempotentCall
from catalogue.ucp import completion
from orders import commands, contact_retention
from orders.models import CheckoutSession, Menu, Order
from orders.tasks import delete_past_checkouts
from tests.catalogue.ucp.agents import BUYER, Agent, pizzeria
from tests.support import builders

pytestmark = pytest.mark.django_db
PHONE = BUYER["phone_number"]


def everything() -> str:
    """What is stored of sessions and of answers to calls."""
    answers = [bytes(call.body or b"").decode() for call in IdempotentCall.objects.all()]
    return f"{list(CheckoutSession.objects.values())} {answers}"


def test_an_erased_guest_is_in_no_session_and_in_no_stored_answer(agent: Agent, menu: Menu) -> None:
    agent.create(menu.venue, key="open")
    done = agent.create(menu.venue, key="done")["id"]
    agent.update(done, {"line_items": [{"dish": {"id": "acqua"}, "quantity": 1}]}, key="update")
    agent.complete(done, key="complete")
    other = agent.create(menu.venue, buyer=BUYER | {"phone_number": "+15550100999"}, key="other")["id"]
    elsewhere = agent.create(pizzeria().venue)["id"]
    commands.change_status(Order.objects.select_related("venue").get(), "completed", now=timezone.now(), actor="x")
    contact_retention.erase_contacts_of(menu.venue, [PHONE])
    left = {session.public_id for session in CheckoutSession.objects.all()}
    assert left == {other, elsewhere}
    assert list(IdempotentCall.objects.values_list("key", flat=True)) == ["other"]
    CheckoutSession.objects.with_public_id(elsewhere).delete()
    assert PHONE not in everything()
    assert agent.get(done)["messages"][0]["code"] == "not_found"


def test_a_guest_is_found_however_the_agent_writes_number_and_address(agent: Agent, menu: Menu) -> None:
    written = {"first_name": "Ada", "phone_number": "+39 (06) 1234-5678", "email": " Ada@Example.com "}
    for key in ("number", "address"):
        checkout = agent.create(menu.venue, buyer=written, key=key)
        assert checkout["buyer"] == {"first_name": "Ada", "phone_number": PHONE, "email": "Ada@Example.com"}
        contact_retention.erase_contacts_of(menu.venue, [PHONE if key == "number" else "ada@example.com"])
        assert not CheckoutSession.objects.exists()
    assert not IdempotentCall.objects.exists()


@pytest.mark.parametrize("end", ["cancel", "complete", "expire"])
def test_no_stored_answer_has_the_contact(agent: Agent, menu: Menu, end: str) -> None:
    """Answers are stored for a day, longer than a session that was not completed."""
    created = agent.create(menu.venue, key="create")
    assert created["buyer"] == BUYER
    agent.update(created["id"], {"line_items": [{"dish": {"id": "acqua"}, "quantity": 1}]}, key="update")
    if end == "expire":
        CheckoutSession.objects.update(expires_at=timezone.now() - timedelta(hours=2))
        delete_past_checkouts()
    else:
        assert getattr(agent, end)(created["id"], key="end").status_code == 200
    assert IdempotentCall.objects.count() == (2 if end == "expire" else 3)
    assert PHONE not in everything()
    assert BUYER["first_name"] not in everything()


def test_one_phone_is_one_customer(agent: Agent, menu: Menu) -> None:
    for phone in (PHONE, "+39 06 1234 5678"):
        agent.complete(agent.create(menu.venue, buyer=BUYER | {"phone_number": phone})["id"])
    first, second = Order.objects.all()
    assert first.customer_id == second.customer_id


def test_sessions_are_deleted_when_nobody_needs_them(agent: Agent, menu: Menu) -> None:
    now = timezone.now()
    ids = {name: agent.create(menu.venue)["id"] for name in ("open", "expired", "canceled", "completed", "recent")}
    agent.cancel(ids["canceled"])
    for name in ("completed", "recent"):
        agent.complete(ids[name])

    def change(name: str, **fields: Any) -> None:
        CheckoutSession.objects.with_public_id(ids[name]).update(**fields)

    for name in ("expired", "canceled"):
        change(name, expires_at=now - timedelta(hours=1, seconds=1))
    change("open", expires_at=now - timedelta(minutes=59))
    change("completed", completed_at=now - timedelta(days=30, seconds=1))
    change("recent", completed_at=now - timedelta(days=29))
    delete_past_checkouts()
    assert {session.public_id for session in CheckoutSession.objects.all()} == {ids["open"], ids["recent"]}
    assert Order.objects.count() == 2


def test_a_deleted_account_leaves_no_session(agent: Agent, menu: Menu) -> None:
    agent.complete(agent.create(menu.venue)["id"])
    agent.create(menu.venue)
    closure.delete_account(menu.venue.account)
    assert not CheckoutSession.objects.exists()


def test_the_back_office_shows_sessions_without_contacts_and_ids(agent: Agent, menu: Menu) -> None:
    session = agent.create(menu.venue)["id"]
    staff = builders.staff()
    listed = staff.get("/admin/orders/checkoutsession/")
    assert listed.status_code == 200
    assert agent.profile in listed.content.decode()
    page = staff.get(f"/admin/orders/checkoutsession/{CheckoutSession.objects.get().pk}/change/")
    assert page.status_code == 200
    for text in (listed.content.decode(), page.content.decode()):
        assert PHONE not in text
        assert session not in text


def test_nothing_is_missing_in_the_migrations() -> None:
    call_command("makemigrations", "orders", check=True, dry_run=True, verbosity=0)


def test_a_failure_of_one_session_does_not_stop_the_others(
    agent: Agent, menu: Menu, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = builders.order(menu.venue, status="cancelled")
    second = builders.order(menu.venue, status="cancelled")
    old = timezone.now() - timedelta(hours=1)
    fields = {"venue": menu.venue, "agent": "a", "state": "placed", "created_at": old, "expires_at": old}
    for number, row in enumerate((order, second)):
        updated_at = old + timedelta(seconds=number)
        CheckoutSession.objects.create(**fields, order=row, updated_at=updated_at, content={"instrument": {}})
    finish = completion.finish

    def fails_first(session: CheckoutSession, **options: Any) -> None:
        if session.order_id == order.pk:
            raise RuntimeError
        finish(session, **options)

    monkeypatch.setattr(completion, "finish", fails_first)
    completion.finish_placed(now=timezone.now())
    assert sorted(CheckoutSession.objects.values_list("state", flat=True)) == ["canceled", "placed"]
