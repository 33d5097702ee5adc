"""`manage.py check_consistency`: consistent data has no findings, and each damage is found by its check."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from accounts.models import OAuthGrant, Venue
from accounts.webhooks import endpoints
from catalogue.models import Export, ExportPart
from config.management.commands import check_consistency
from payments.models import Payment
from tests.catalogue import builders as places
from tests.catalogue.exports import export_builders
from tests.payments import ledger_builders
from tests.payments.facilitators import serving
from tests.support import builders, oauth, users

pytestmark = pytest.mark.django_db

CHECKS = [
    *("unanswered_call", "oauth_grant", "app_webhook"),
    *("order_numbers", "order_totals", "order_counts", "order_event", "order_replay"),
    *("reservation_table_overlap", "reservation_seating", "reservation_table_names"),
    *("reservation_counts", "reservation_event", "reservation_replay"),
    *("payment_event", "payment_refund", "offer_seats", "deposits", "order_payments"),
    *("checkout_sessions", "export_parts"),
]
MEANT = {
    "FIRST_ORDER": "(SELECT id FROM orders_order WHERE total IS NOT NULL ORDER BY id LIMIT 1)",
    "AT_TABLE": "(SELECT reservation_id FROM reservations_seating ORDER BY id LIMIT 1)",
}


@pytest.fixture
def world(venue: Venue) -> Venue:
    """A bit of everything but exports, all of it right."""
    builders.order(venue)
    builders.menu(venue)
    builders.order(venue, status="completed")
    builders.order(venue, status="cancelled")
    for name in ("T1", "T2"):
        builders.table(venue, name)
    builders.period(venue)
    api = builders.client(venue)
    for path, body in (("orders", builders.order_body()), ("reservations", builders.reservation_body(time="19:30"))):
        answer = api.post(f"/api/v1/{path}", body, content_type="application/json", headers={"idempotency-key": path})
        assert answer.status_code == 201, answer.content
    builders.reservation(venue, status="confirmed")
    builders.reservation(venue, status="cancelled")
    place = places.restaurant()
    soon = timezone.now().replace(minute=0, second=0, microsecond=0) + timedelta(days=1)
    places.listing(place)
    places.slot(place, starts_at=soon)
    for number, state in enumerate((Payment.State.DELIVERED, Payment.State.CLAIMED)):
        ledger_builders.payment(number, state=state)
    oauth.dynamic_app().connect(users.member(venue), venue, scope="orders:read")
    endpoints.create(venue, url="https://hooks.example.com", grant=OAuthGrant.objects.get())
    return venue


def found() -> list[tuple[str, str]]:
    """The findings as (check, what), but for those against the chain."""
    out = StringIO()
    try:
        call_command("check_consistency", "--without-chain", "--json", stdout=out)
        has_ended = 0
    except CommandError as error:
        has_ended = error.returncode
    payload = json.loads(out.getvalue())
    assert payload["checks"] == CHECKS
    assert has_ended == (1 if payload["findings"] else 0)
    return [(one["check"], one["what"]) for one in payload["findings"]]


def damage(*statements: str) -> None:
    """Change rows as no code of ours does: without triggers, and so without foreign keys."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in statements:
            for word, rows in MEANT.items():
                statement = statement.replace(word, rows)
            cursor.execute(statement)
        cursor.execute("SET LOCAL session_replication_role = origin")


@pytest.mark.exhaustive
def test_correct_ledger_has_no_errors(world: Venue) -> None:
    assert found() == []


DAMAGES: dict[str, tuple[str, list[str], str]] = {
    "a table sold twice": (
        "reservation_table_overlap",
        [
            "ALTER TABLE reservations_seating DROP CONSTRAINT seating_no_table_overlap",
            "INSERT INTO reservations_seating (reservation_id, table_id, during)"
            " SELECT reservation_id, table_id, during FROM reservations_seating ORDER BY id LIMIT 1",
        ],
        "table T1 is also taken by another, [",
    ),
    "a table of who is cancelled": (
        "reservation_seating",
        [
            "INSERT INTO reservations_seating (reservation_id, table_id, during)"
            " SELECT its.id, named.id, tstzrange(its.starts_at, its.ends_at)"
            " FROM reservations_reservation AS its CROSS JOIN reservations_table AS named"
            " WHERE its.status = 'cancelled' AND named.name = 'T2' AND named.venue_id = its.venue_id",
            "UPDATE reservations_reservation SET tables = '{T2}' WHERE status = 'cancelled'",
        ],
        "and is cancelled",
    ),
    "a table at another time": (
        "reservation_seating",
        [
            "UPDATE reservations_seating SET during = tstzrange('2001-01-01', '2001-01-02')"
            " WHERE reservation_id = AT_TABLE"
        ],
        "and its time is [",
    ),
    "a table that is called otherwise": (
        "reservation_table_names",
        ["UPDATE reservations_reservation SET tables = '{T9}' WHERE id = AT_TABLE"],
        "it names T9 and holds T1",
    ),
    "a reservation that is not tallied": (
        "reservation_counts",
        [
            "UPDATE accounts_recordcount SET total = total + 1"
            " WHERE record_type = 'reservation' AND status = 'confirmed'"
        ],
        "confirmed: the count is 3, there are 2",
    ),
    "a reservation of another status than was told": (
        "reservation_event",
        ["DELETE FROM accounts_event WHERE subject = AT_TABLE AND type = 'reservation.created'"],
        "it has no creation event",
    ),
    "an answer of a reservation that is not there": (
        "reservation_replay",
        [
            "UPDATE accounts_idempotentcall SET body = convert_to(jsonb_build_object("
            "'id', 'res_' || repeat('0', 26))::text, 'UTF8') WHERE operation LIKE '%reservations'"
        ],
        " has no row",
    ),
    "a number that is missing": (
        "order_numbers",
        ["UPDATE orders_order SET number = 7 WHERE number = 4"],
        ": 4 orders, the highest number is 7, 4 were assigned",
    ),
    "numbers that are counted wrong": (
        "order_numbers",
        ["UPDATE orders_ordernumber SET last = 3"],
        ": 4 orders, the highest number is 4, 3 were assigned",
    ),
    "a total that is not the sum": (
        "order_totals",
        ["UPDATE orders_order SET total = total + 1, subtotal = subtotal + 1 WHERE id = FIRST_ORDER"],
        "its lines sum up to 19.000, subtotal 18.270, total 20.000",
    ),
    "a tax that is not the rest": (
        "order_totals",
        ["UPDATE orders_order SET tax = tax + 1 WHERE id = FIRST_ORDER"],
        "subtotal 17.270 and tax 2.730 are not the total 19.000",
    ),
    "a line of another sum": (
        "order_totals",
        ["UPDATE orders_orderitem SET quantity = 3 WHERE order_id = FIRST_ORDER"],
        "a line is not its price times its quantity",
    ),
    "an order without lines": (
        "order_totals",
        ["DELETE FROM orders_orderitem WHERE order_id = FIRST_ORDER"],
        "it has no lines",
    ),
    "a tally of no order": (
        "order_counts",
        ["DELETE FROM accounts_recordcount WHERE record_type = 'order' AND status = 'completed'"],
        "completed: the count is 0, there are 1",
    ),
    "an event of an order that is not there": (
        "order_event",
        [
            "INSERT INTO accounts_event (id, venue_id, type, subject, actor, record, created_at)"
            " SELECT gen_random_uuid(), venue_id, type, gen_random_uuid(), actor, record, created_at"
            " FROM accounts_event WHERE type = 'order.completed'"
        ],
        " has no row",
    ),
    "an order whose end was not told": (
        "order_event",
        ["DELETE FROM accounts_event WHERE type = 'order.completed'"],
        "it is completed with version 2, its last event is pending with version 1",
    ),
    "an answer of an order that is not there": (
        "order_replay",
        [
            "UPDATE accounts_idempotentcall SET body = convert_to(jsonb_build_object("
            "'id', 'ord_' || repeat('0', 26))::text, 'UTF8') WHERE operation LIKE '%orders'"
        ],
        " has no row",
    ),
    "a call without its answer": (
        "unanswered_call",
        ["UPDATE accounts_idempotentcall SET status = NULL, body = NULL WHERE operation LIKE '%orders'"],
        "has no stored response",
    ),
    "a grant at the venue of others": (
        "oauth_grant",
        ["UPDATE accounts_oauthgrant SET account_id = gen_random_uuid()"],
        "its venue is of another account",
    ),
    "a token that reaches further than its grant": (
        "oauth_grant",
        ["UPDATE accounts_oauthtoken SET scopes = '{orders:read,menu:write}' WHERE kind = 'access'"],
        "has scopes or an end that the grant has not",
    ),
    "an endpoint that outlives the access of its app": (
        "app_webhook",
        ["UPDATE accounts_oauthgrant SET revoked_at = now()"],
        "it is enabled, and the grant of its app was revoked",
    ),
    "a seat that nobody holds": (
        "offer_seats",
        ["UPDATE catalogue_flowslot SET seats_left = 5"],
        "of 8 seats 0 are booked, and seats_left is 5",
    ),
    "a deposit without a reservation": (
        "deposits",
        ["UPDATE payments_payment SET products = '{deposit}' WHERE state = 'delivered'"],
        "the payment of the deposit is delivered, and the deposit is of no reservation",
    ),
    "a paid order without a payment": (
        "order_payments",
        ["UPDATE orders_order SET usdc_amount = 1, payment_state = 'paid', usdc_payment = id WHERE id = FIRST_ORDER"],
        "the payment is missing, and its order is paid",
    ),
    "a payment whose order is not paid": (
        "order_payments",
        [
            "UPDATE payments_payment SET products = '{order}' WHERE state = 'delivered'",
            "UPDATE orders_order SET usdc_amount = 1, payment_state = 'refund_due', usdc_payment ="
            " (SELECT id FROM payments_payment WHERE state = 'delivered' LIMIT 1) WHERE id = FIRST_ORDER",
        ],
        "the payment is delivered, and its order is refund_due",
    ),
    "a checkout that is completed and not paid": (
        "checkout_sessions",
        [
            "INSERT INTO orders_checkoutsession (id, venue_id, agent, state, content, order_id, completion_digest,"
            " created_at, updated_at, expires_at, completed_at) SELECT id, venue_id, 'https://agent.example',"
            """ 'completed', '{"instrument": {"handler_id": "x402"}}', id, '', now(), now(), now(), now()"""
            " FROM orders_order WHERE id = FIRST_ORDER",
        ],
        "its checkout session is completed, and the order is completed and not to be paid in USDC",
    ),
    "a payment that moved untold": (
        "payment_event",
        ["UPDATE payments_payment SET state = 'settled' WHERE state = 'delivered'"],
        "state settled, last event delivered",
    ),
    "a refund that nobody noted": (
        "payment_refund",
        [
            "UPDATE payments_payment SET state = 'refunded', refunded_at = now() WHERE state = 'delivered'",
            "UPDATE payments_paymentevent SET after = 'refunded' WHERE after = 'delivered'",
        ],
        "state refunded, without a refund",
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("damaged", DAMAGES)
def test_each_damage_is_found_by_its_name_and_nothing_else_with_it(world: Venue, damaged: str) -> None:
    check, statements, what = DAMAGES[damaged]
    damage(*statements)
    seen = found()
    assert [name for name, _ in seen] == [check], seen
    assert what in seen[0][1]


@pytest.fixture
def exported(transactional_db: None, settings: Settings, tmp_path: Path) -> tuple[ExportPart, Path]:
    """The only part of a finished export, and its file."""
    export_builders.keep_in(settings, tmp_path)
    places.restaurant()
    export = export_builders.create_finished()
    part = export.parts.get()
    assert found() == []
    return part, tmp_path / export.public_id / part.file


@pytest.mark.exhaustive
def test_an_export_is_held_against_its_parts(exported: tuple[ExportPart, Path]) -> None:
    part, _ = exported
    parts, exports = ExportPart.objects.filter(pk=part.pk), Export.objects.filter(pk=part.export_id)
    for rows, wrong, what in (
        (parts, {"state": "claimed"}, "part 1 is not done"),
        (parts, {"seq": 3}, "its parts are 3"),
        (exports, {"rows": 7}, "its parts have 1 rows, its row says 7"),
        (exports, {"manifest_sha256": "0" * 64}, f"manifest-{'0' * 64}.json is not there"),
    ):
        (before,) = rows.values(*wrong)
        rows.update(**wrong)
        assert found() == [("export_parts", what)]
        rows.update(**before)
    part.delete()
    assert found() == [("export_parts", "its parts are none")]


@pytest.mark.exhaustive
def test_missing_files_of_an_export_are_reported(exported: tuple[ExportPart, Path]) -> None:
    part, file = exported
    file.write_bytes(b"cut off")
    assert found() == [("export_parts", f"{part.file} has 7 bytes, its row says {part.bytes}")]
    file.unlink()
    assert found() == [("export_parts", f"{part.file} is not there, its row says {part.bytes}")]
    Export.objects.update(status="expired")
    assert found() == []


@pytest.mark.exhaustive
def test_each_check_reports_at_most_a_hundred_errors(venue: Venue) -> None:
    for _ in range(102):
        builders.order(venue)
    damage("DELETE FROM orders_orderitem")
    seen = found()
    assert len(seen) == 101
    assert seen[-1] == ("order_totals", "2 more")


@pytest.mark.exhaustive
def test_output_has_a_line_for_each_error_and_the_number_of_checks(world: Venue) -> None:
    damage("UPDATE catalogue_flowslot SET seats_left = 5")
    out = StringIO()
    with pytest.raises(CommandError, match=r"docs/auditing\.md"):
        call_command("check_consistency", "--without-chain", stdout=out)
    first, last = out.getvalue().splitlines()
    assert first.startswith("offer_seats: fo_")
    assert first.endswith(": of 8 seats 0 are booked, and seats_left is 5")
    assert last == f"{len(CHECKS)} checks, 1 findings."


def test_unreadable_chain_is_reported(settings: Settings) -> None:
    def nothing(_: bytes) -> tuple[int, bytes]:
        return 503, b""

    with serving(nothing) as node:
        settings.RPC_URL = node.url
        (located,) = check_consistency.compare_with_chain()
    assert (located.check, located.subject) == ("ledger_and_chain", "chain")
