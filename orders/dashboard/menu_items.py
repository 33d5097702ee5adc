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
from orders.dashboard.menu import get_category, get_item
from orders.menu import editing
from orders.menu.forms import CategoryForm, ItemForm, get_next_position
from orders.models import Menu, MenuCategory, MenuItem


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def edit_item(request: PageRequest, *, key: UUID | None = None) -> HttpResponse:
    """Add or edit a dish."""
    venue = request.access.venue
    row = get_item(request, key) if key else None
    menu = get_menu(request)
    if row is None and not MenuCategory.objects.filter(menu=menu).exists():
        messages.info(request, "Dishes belong to categories. Add a category first.")
        return redirect("menu-category-new", venue=venue.public_id)
    form = ItemForm(request.POST if request.method == "POST" else None, instance=row, menu=menu)
    if "category" in request.GET and not form.is_bound:
        form.initial["category"] = request.GET["category"]
    if form.is_valid() and try_save(form, MenuItem.objects.filter(category=form.cleaned_data["category"])):
        messages.success(request, f"Saved: {form.instance.name}.")
        return redirect("menu", venue=venue.public_id)
    return render_form(request, form, row, "item")


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def edit_category(request: PageRequest, *, key: UUID | None = None) -> HttpResponse:
    """Add or edit a category."""
    venue = request.access.venue
    row = get_category(request, key) if key else None
    menu = get_menu(request)
    form = CategoryForm(request.POST if request.method == "POST" else None, instance=row, menu=menu)
    if form.is_valid() and try_save(form, MenuCategory.objects.filter(menu=menu)):
        messages.success(request, f"Saved: {form.instance.name}.")
        return redirect("menu", venue=venue.public_id)
    return render_form(request, form, row, "category")


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


def render_form(request: PageRequest, form: Any, row: Any, kind: str) -> HttpResponse:
    """Render the form."""
    context = {"form": form, "row": row, "kind": kind, "saved_name": form.initial.get("name", "")}
    return render(request, "orders/menu_form.html", context, status=400 if request.method == "POST" else 200)


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def delete_item(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Ask for confirmation, then delete a dish."""
    row = get_item(request, key)
    if request.method != "POST":
        return render(request, "orders/menu_remove.html", {"row": row, "kind": "item"})
    MenuItem.objects.filter(pk=row.pk).delete()
    messages.success(request, f"Deleted: {row.name}.")
    return redirect("menu", venue=request.access.venue.public_id)


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def delete_category(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Ask for confirmation, then delete an empty category."""
    row = get_category(request, key)
    if request.method != "POST":
        return render(request, "orders/menu_remove.html", {"row": row, "kind": "category"})
    try:
        editing.delete_category(row)
    except ApiError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"Deleted: {row.name}.")
    return redirect("menu", venue=request.access.venue.public_id)
