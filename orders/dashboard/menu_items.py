"""Forms for dishes and categories, and their delete confirmations."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from orders.dashboard.menu import get_row
from orders.menu import editing
from orders.menu.forms import CategoryForm, ItemForm, get_next_position
from orders.models import Menu, MenuCategory

FORMS = {"item": ItemForm, "category": CategoryForm}


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest, *, kind: str, key: UUID | None = None) -> HttpResponse:
    """Add or edit a dish or a category."""
    venue = request.access.venue
    row: Any = get_row(request, kind, key) if key else None
    menu = get_menu(request)
    categories = MenuCategory.objects.filter(menu=menu)
    if kind == "item" and row is None and not categories.exists():
        messages.info(request, "Dishes belong to categories. Add a category first.")
        return redirect("menu-category-new", venue=venue.public_id)
    form: Any = FORMS[kind](request.POST if request.method == "POST" else None, instance=row, menu=menu)
    if "category" in request.GET and not form.is_bound:
        form.initial["category"] = request.GET["category"]
    if form.is_valid():
        siblings = form.cleaned_data["category"].items if kind == "item" else categories
        if try_save(form, siblings):
            messages.success(request, f"Saved: {form.instance.name}.")
            return redirect("menu", venue=venue.public_id)
    context = {"form": form, "row": row, "kind": kind, "saved_name": form.initial.get("name", "")}
    return render(request, "orders/menu_form.html", context, status=400 if form.is_bound else 200)


def get_menu(request: PageRequest) -> Menu:
    """Return the venue's menu; a GET does not create one."""
    venue = request.access.venue
    if request.method == "POST":
        return editing.get_or_create_menu(venue)
    return Menu.objects.select_related("venue").filter(venue=venue).first() or Menu(venue=venue)


def try_save(form: Any, siblings: Any) -> bool:
    """Save the row, a new one at the end. Return False with a form error after a concurrent change."""
    try:
        with transaction.atomic():
            if form.instance._state.adding or "category" in form.changed_data:
                form.instance.position = get_next_position(siblings)
            form.save()
            if "category" in form.changed_data:
                form.instance.save(update_fields=["position"])
    except IntegrityError:
        form.add_error(None, "The menu was just changed by another user. Check it and try again.")
        return False
    return True


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def delete(request: PageRequest, *, kind: str, key: UUID) -> HttpResponse:
    """Ask for confirmation, then delete a dish or an empty category."""
    row = get_row(request, kind, key)
    if request.method != "POST":
        return render(request, "orders/menu_remove.html", {"row": row, "kind": kind})
    try:
        editing.delete(row)
    except ApiError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"Deleted: {row.name}.")
    return redirect("menu", venue=request.access.venue.public_id)
