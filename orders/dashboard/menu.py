"""The menu of a venue: what is on it in its order, what is sold out today, and whether orders follow it."""

from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import Refusal
from orders import pricing
from orders.menu import editing
from orders.models import Menu, MenuCategory, MenuItem


def told_of(request: PageRequest, said: str = "") -> dict[str, Any]:
    """What is on the menu. Three queries."""
    venue = request.access.venue
    today = timezone.now().astimezone(ZoneInfo(venue.timezone)).date()
    ordered = MenuItem.objects.order_by("position", "name", "id")
    menu = Menu.objects.filter(venue=venue).first()
    categories = (
        list(menu.categories.order_by("position", "name", "id").prefetch_related(Prefetch("items", ordered)))
        if menu
        else []
    )
    shown = [
        (category, [line_of(item, venue.currency, today) for item in category.items.all()]) for category in categories
    ]
    return {
        "venue": venue,
        "access": request.access,
        "menu": menu,
        "categories": shown,
        "number": sum(len(items) for _, items in shown),
        "sold_out": sum(line["is_sold_out"] for _, items in shown for line in items),
        "writes": request.access.may(Right.MENU),
        "sells_out": request.access.may(Right.SOLD_OUT),
        "said": said,
    }


def line_of(item: MenuItem, currency: str, today: Any) -> dict[str, Any]:
    """A dish with its price as guests see it."""
    return {
        "item": item,
        "price": pricing.written(item.price, currency),
        "tax": f"{item.tax_percent.normalize():f}",
        "is_sold_out": item.sold_out_on == today,
    }


@page(Right.MENU, Right.SOLD_OUT, section="menu")
def show(request: PageRequest) -> HttpResponse:
    """All of it."""
    return render(request, "orders/menu.html", told_of(request))


@page(Right.MENU, section="menu")
def preview(request: PageRequest) -> HttpResponse:
    """As callers have it: what can be ordered, by which id."""
    return render(request, "orders/menu_preview.html", told_of(request))


@page(Right.MENU, section="menu", methods=("POST",))
def publish(request: PageRequest) -> HttpResponse:
    """Have orders follow the menu, or not any more."""
    venue = request.access.venue
    is_published = request.POST.get("to") == "published"
    try:
        editing.publish(venue, is_published=is_published)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        told = "The menu is published: orders follow it, and are priced by it."
        messages.success(request, told if is_published else "The menu is withdrawn: orders may hold any id again.")
    return redirect("menu", venue=venue.public_id)


def item_of(request: PageRequest, key: UUID) -> MenuItem:
    """The venue's dish; another's is as if it were not there."""
    return get_object_or_404(MenuItem.objects.select_related("menu"), menu__venue=request.access.venue, pk=key)


def again(request: PageRequest, said: str) -> HttpResponse:
    """The list as it is now: alone to htmx, else by its own page."""
    if request.headers.get("HX-Request") == "true":
        return render(request, "orders/menu_list.html", told_of(request, said))
    messages.success(request, said)
    return redirect("menu", venue=request.access.venue.public_id)


@page(Right.SOLD_OUT, Right.MENU, section="menu", methods=("POST",))
def sell_out(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Sold out for the rest of the venue's day, or back again; what is switched off stays so."""
    item = item_of(request, key)
    mine = MenuItem.objects.filter(pk=item.pk)
    if request.POST.get("to") == "back":
        mine.update(sold_out_on=None)
        return again(request, f"{item.name} is back.")
    mine.sell_out(now=timezone.now())
    return again(request, f"{item.name} is sold out for today.")


@page(Right.MENU, section="menu", methods=("POST",))
def switch(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Available, or not until further notice."""
    item = item_of(request, key)
    is_on = request.POST.get("to") == "on"
    MenuItem.objects.filter(pk=item.pk).update(is_available=is_on)
    return again(request, f"{item.name} is {'available' if is_on else 'not available'}.")


@page(Right.MENU, section="menu", methods=("POST",))
def move(request: PageRequest, *, key: UUID, kind: str) -> HttpResponse:
    """One place up or down."""
    row = item_of(request, key) if kind == "item" else category_of(request, key)
    up = request.POST.get("to") == "up"
    if editing.move(row, up=up):
        return again(request, f"{row.name} moved {'up' if up else 'down'}.")
    return again(request, f"{row.name} is the {'first' if up else 'last'} already.")


def category_of(request: PageRequest, key: UUID) -> MenuCategory:
    """The venue's category; another's is as if it were not there."""
    return get_object_or_404(MenuCategory, menu__venue=request.access.venue, pk=key)
