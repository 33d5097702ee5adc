"""Each action of a list of the back office asks on a page before it changes anything."""

from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import ApiKey, User, Venue
from framework.django_internals import model_admins
from orders.models import Order
from tests.support import builders

pytestmark = pytest.mark.django_db

# These need another number of rows, or rows in another state, to ask about.
REFUSED_WITHOUT_ROWS = {
    ("catalogue.restaurant", "rename"): "Select one restaurant.",
    ("catalogue.restaurant", "merge"): "Select two restaurants.",
    ("catalogue.restaurant", "erase"): "Select one restaurant.",
    ("payments.payment", "mark_refund_due"): (
        "Nothing to refund: these payments were not settled, or their refund is already due or sent."
    ),
    ("payments.payment", "record_refund"): "Nothing to record: none of these refunds is due now.",
}


@pytest.fixture
def staff() -> Client:
    return builders.staff()


def post_to_all_rows(staff: Client, model: Any, action: str) -> Any:
    path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return staff.post(path, {"action": action, "_selected_action": ["1"], "select_across": "1"})


@pytest.mark.exhaustive
def test_each_action_asks_first(staff: Client) -> None:
    request = RequestFactory().post("/")
    request.user = User.objects.get()
    asked = 0
    for model, model_admin in model_admins(admin.site).items():
        for action in model_admin.get_actions(request):
            label = (model._meta.label_lower, action)
            # Those of our own for all rows of an empty list: an action that runs would say so in a message.
            if action == "delete_selected":
                continue
            with CaptureQueriesContext(connection) as queries:
                answer = post_to_all_rows(staff, model, action)
            written = [q["sql"] for q in queries if q["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
            assert written == [], label
            if label in REFUSED_WITHOUT_ROWS:
                assert builders.messages_of(answer)[-1] == REFUSED_WITHOUT_ROWS[label]
                continue
            page = answer.content.decode()
            assert (answer.status_code, 'name="confirmed"' in page) == (200, True), label
            assert f'<input type="hidden" name="action" value="{action}">' in page
            assert '<input type="hidden" name="select_across" value="1">' in page
            asked += 1
    assert asked >= 50


def test_a_page_counts_the_rows_and_confirms_the_same_ones(staff: Client, venue: Venue) -> None:
    for customer in ("table-1", "table-1", "table-2"):
        builders.order(venue, customer_id=customer)
    path = f"{reverse('admin:orders_order_changelist')}?q=table-1"
    sent = {"action": "complete", "_selected_action": [str(Order.objects.filter(customer_id="table-1")[0].pk)]}
    page = staff.post(path, sent | {"select_across": "1"}).content.decode()
    assert "<p>2 orders:</p>" in page
    assert '<a href="/admin/orders/order/?q=table-1" class="button cancel-link">' in page
    assert Order.objects.filter(status="pending").count() == 3
    staff.post(path, sent | {"select_across": "1", "confirmed": "Complete orders"})
    assert [order.customer_id for order in Order.objects.filter(status="pending")] == ["table-2"]


def test_a_row_that_was_not_selected_is_not_changed(staff: Client, venue: Venue) -> None:
    first, second = (ApiKey.create(venue, name="till").row for _ in range(2))
    chosen = {"action": "revoke", "_selected_action": [str(first.pk)], "select_across": "0"}
    assert "<p>1 API key:</p>" in staff.post(reverse("admin:accounts_apikey_changelist"), chosen).content.decode()
    staff.post(reverse("admin:accounts_apikey_changelist"), chosen | {"confirmed": "yes"})
    assert list(ApiKey.objects.filter(revoked_at=None)) == [second]
