"""The lists of the back office by task."""

from django.contrib import admin
from django.test import Client

from accounts.admin_site import INDEX_GROUPS
from framework.django_internals import model_admins


def test_every_list_is_in_exactly_one_group() -> None:
    grouped = [label for group in INDEX_GROUPS for label in group["models"]]
    assert sorted(grouped) == sorted(model._meta.label for model in model_admins(admin.site))


def test_the_front_page_shows_the_groups_in_their_order_after_the_most_used_lists(admin_client: Client) -> None:
    page = admin_client.get("/admin/")
    assert [group["name"] for group in page.context["app_list"]] == [group["name"] for group in INDEX_GROUPS]
    assert [model["name"] for model in page.context["most_used"]] == [
        *("Orders", "Reservations", "Restaurants", "Reviews", "Accounts", "Payments")
    ]


def test_a_list_is_titled_by_its_rows(admin_client: Client) -> None:
    for path, title in (("orders/order", "Orders"), ("payments/payment", "Payments"), ("auth/group", "Groups")):
        page = admin_client.get(f"/admin/{path}/").content.decode()
        assert (f"<h1>{title}" in page, f"<title>{title} | Tablewire back office</title>" in page) == (True, True)
    assert "<h1>Deposits: 0 USDC held" in admin_client.get("/admin/catalogue/deposit/").content.decode()
