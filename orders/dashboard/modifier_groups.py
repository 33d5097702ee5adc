"""The pages of modifier groups: list, create, edit with the modifiers as rows, delete."""

from contextlib import nullcontext
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Count, Prefetch
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from orders.dashboard.menu import fold_fields, get_menu
from orders.menu import editing
from orders.menu.forms import ModifierGroupForm, ModifierRows
from orders.models import Menu, Modifier, ModifierGroup


@page(Right.MENU, section="menu")
def list_groups(request: PageRequest) -> HttpResponse:
    """List the groups with their modifiers. Two queries besides those of the `page` decorator."""
    modifiers = Modifier.objects.order_by("position", "name", "id")
    groups = ModifierGroup.objects.filter(menu__venue=request.access.venue).order_by("name", "id")
    rows = groups.annotate(number=Count("item_modifier_groups")).prefetch_related(Prefetch("modifiers", modifiers))
    return render(request, "orders/modifier_groups.html", {"groups": rows})


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def edit_group(request: PageRequest, *, key: UUID | None = None) -> HttpResponse:
    menu = get_menu(request)
    with transaction.atomic() if request.method == "POST" else nullcontext():
        if request.method == "POST":
            # What is checked stays as it is until it is saved.
            editing.lock_menu(menu.venue_id)
        return edit_group_of(request, menu, key)


def edit_group_of(request: PageRequest, menu: Menu, key: UUID | None) -> HttpResponse:
    group = find_group(request, key) if key else ModifierGroup(menu=menu)
    sent = (request.POST,) if request.method == "POST" else ()
    form: Any = ModifierGroupForm(*sent, instance=group, menu=menu)
    # Before the rows, whose rules are about the numbers of the group.
    is_valid = form.is_valid()
    ordered = Modifier.objects.order_by("position", "name", "id")
    formset: Any = ModifierRows
    rows = formset(*sent, instance=group, menu=menu, queryset=ordered, prefix="rows")
    if is_valid and rows.is_valid() and try_save(form, rows, actor=request.access.actor):
        messages.success(request, _("Saved: %(name)s.") % {"name": group.name})
        return redirect("menu-groups", venue=request.access.venue.public_id)
    context = {
        "form": form,
        "rows": rows,
        "group": group if key else None,
        "saved_name": form.initial.get("name", ""),
        **fold_fields(form, ((_("Id and translations"), ("ref", "translations")),)),
    }
    return render(request, "orders/modifier_group_form.html", context, status=400 if form.is_bound else 200)


def try_save(form: Any, rows: Any, *, actor: str) -> bool:
    """Save the group and its modifiers. Return False with a form error after a concurrent change."""
    try:
        with transaction.atomic():
            form.save()
            rows.save_rows()
            editing.record_updated(form.menu, actor=actor, now=form.menu.venue.now())
    except IntegrityError:
        form.add_error(None, _("The menu was just changed by another user. Check it and try again."))
        return False
    return True


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def delete_group(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Ask for confirmation, then delete a group that no dish and no modifier uses."""
    group = find_group(request, key)
    if request.method != "POST":
        return render(request, "orders/menu_remove.html", {"row": group, "kind": "group"})
    try:
        editing.delete(group, actor=request.access.actor, now=request.access.venue.now())
    except ApiError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Deleted: %(name)s.") % {"name": group.name})
    return redirect("menu-groups", venue=request.access.venue.public_id)


def find_group(request: PageRequest, key: UUID) -> ModifierGroup:
    return get_object_or_404(
        ModifierGroup.objects.select_related("menu__venue"), menu__venue=request.access.venue, pk=key
    )
