"""The menu page: dishes by category, sold-out dishes, and publishing."""

from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.onboarding import Step, build_venue_url
from accounts.tenancy.permissions import Access, Right
from framework.errors import ApiError
from orders import pricing
from orders.menu import editing
from orders.models import Menu, MenuCategory, MenuItem


def build_context(request: PageRequest, message: str = "") -> dict[str, Any]:
    """Return the context of the menu templates. Three queries."""
    venue = request.access.venue
    today = timezone.now().astimezone(ZoneInfo(venue.timezone)).date()
    ordered = MenuItem.objects.order_by("position", "name", "id")
    menu = Menu.objects.filter(venue=venue).first()
    categories = (
        list(menu.categories.order_by("position", "name", "id").prefetch_related(Prefetch("items", ordered)))
        if menu
        else []
    )
    rows = [
        (category, [format_item(item, venue.currency, today) for item in category.items.all()])
        for category in categories
    ]
    return {
        "venue": venue,
        "access": request.access,
        "menu": menu,
        "categories": rows,
        "dish_count": sum(len(items) for _, items in rows),
        "sold_out": sum(line["is_sold_out"] for _, items in rows for line in items),
        "can_edit": request.access.may(Right.MENU),
        "can_sell_out": request.access.may(Right.SOLD_OUT),
        "message": message,
    }


def format_item(item: MenuItem, currency: str, today: Any) -> dict[str, Any]:
    return {
        "item": item,
        "price": pricing.format_amount(item.price, currency),
        "tax": f"{item.tax_percent.normalize():f}",
        "is_sold_out": item.sold_out_on == today,
    }


@page(Right.MENU, Right.SOLD_OUT, section="menu")
def show_menu(request: PageRequest) -> HttpResponse:
    return render(request, "orders/menu.html", build_context(request))


@page(Right.MENU, section="menu")
def preview_menu(request: PageRequest) -> HttpResponse:
    """Render the menu as API clients see it: ids, prices and availability."""
    return render(request, "orders/menu_preview.html", build_context(request))


@page(Right.MENU, section="menu", methods=("POST",))
def set_published(request: PageRequest) -> HttpResponse:
    venue = request.access.venue
    is_published = request.POST.get("to") == "published"
    try:
        editing.set_published(venue, is_published=is_published)
    except ApiError as refusal:
        messages.error(request, refusal.message)
    else:
        published = "The menu was published. Orders are now limited to its dishes and use its prices."
        unpublished = "The menu was unpublished. Orders accept any item id again."
        messages.success(request, published if is_published else unpublished)
    return redirect("menu", venue=venue.public_id)


def get_row(request: PageRequest, kind: str, key: UUID) -> MenuItem | MenuCategory:
    """Return the venue's "item" or "category". Raises Http404, also for one of another venue."""
    rows: QuerySet[Any] = (MenuItem if kind == "item" else MenuCategory).objects.select_related("menu")
    row: MenuItem | MenuCategory = get_object_or_404(rows, menu__venue=request.access.venue, pk=key)
    return row


def respond_updated(request: PageRequest, message: str) -> HttpResponse:
    """Render the updated list for htmx; otherwise redirect to the menu page."""
    if request.headers.get("HX-Request") == "true":
        return render(request, "orders/menu_list.html", build_context(request, message))
    messages.success(request, message)
    return redirect("menu", venue=request.access.venue.public_id)


@page(Right.SOLD_OUT, Right.MENU, section="menu", methods=("POST",))
def set_sold_out(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Mark a dish as sold out for the venue's day, or as available again. A hidden dish stays hidden."""
    item = get_row(request, "item", key)
    row = MenuItem.objects.filter(pk=item.pk)
    if request.POST.get("to") == "back":
        row.update(sold_out_on=None)
        return respond_updated(request, f"{item.name} is available again.")
    row.sell_out(now=timezone.now())
    return respond_updated(request, f"{item.name} is sold out today.")


@page(Right.MENU, section="menu", methods=("POST",))
def set_available(request: PageRequest, *, key: UUID) -> HttpResponse:
    item = get_row(request, "item", key)
    is_on = request.POST.get("to") == "on"
    MenuItem.objects.filter(pk=item.pk).update(is_available=is_on)
    return respond_updated(request, f"{item.name} is now {'available' if is_on else 'hidden'}.")


@page(Right.MENU, section="menu", methods=("POST",))
def move_row(request: PageRequest, *, key: UUID, kind: str) -> HttpResponse:
    """Move a dish or a category one position up or down."""
    row = get_row(request, kind, key)
    up = request.POST.get("to") == "up"
    if editing.move(row, up=up):
        return respond_updated(request, f"{row.name} was moved {'up' if up else 'down'}.")
    return respond_updated(request, f"{row.name} is already {'first' if up else 'last'}.")


def find_menu_step(access: Access) -> Step | None:
    """Return the set-up step to publish the menu, until it is published; a sandbox needs none. One query."""
    if access.venue.is_sandbox or not access.may(Right.MENU):
        return None
    if Menu.objects.published_by(access.venue).exists():
        return None
    why = "Orders are then limited to its dishes and use its prices."
    return Step("Publish your menu", why, build_venue_url("menu", access))
