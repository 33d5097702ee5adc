"""The menu page: dishes by category, sold-out dishes, publishing, and the forms for dishes and categories."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef, Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.onboarding_steps import Step
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from framework.languages import format_number
from framework.timezones import zone
from orders import pricing
from orders.dashboard.board import format_money
from orders.menu import editing, photos, stock
from orders.menu.forms import CategoryForm, ItemForm, SoldOutForm, StockForm
from orders.menu.item_changes import change_items
from orders.menu.serializers import MAX_STOCK
from orders.models import Menu, MenuCategory, MenuItem
from orders.models.menus import describe_sold_out

FORMS = {"item": ItemForm, "category": CategoryForm}
# The folded parts of the forms: their titles and fields. All other fields come first.
FOLDED_FIELDS = {
    "item": (
        (gettext_lazy("Allergens and diets"), ("allergens", "diets")),
        (gettext_lazy("Modifier groups"), ("groups",)),
        (gettext_lazy("Kitchen and stock"), ("station", "prep_minutes", "stock", "sold_out_until")),
        (gettext_lazy("Translations"), ("translations",)),
        (gettext_lazy("Id and takeaway tax"), ("ref", "takeaway_tax_percent")),
    ),
    "category": ((gettext_lazy("Translations"), ("translations",)),),
}


def build_context(request: PageRequest, message: str = "", opened: UUID | None = None) -> dict[str, Any]:
    """Return the context of the menu templates, with the actions of the row `opened` in view. Three queries."""
    venue = request.access.venue
    at = venue.now().astimezone(zone(venue.timezone))
    ordered = MenuItem.objects.order_by("position", "name", "id")
    categories = MenuCategory.objects.filter(menu__venue=venue).order_by("position", "name", "id")
    rows = []
    for category in categories.prefetch_related(Prefetch("items", ordered)):
        lines = [
            {
                "item": item,
                "price": pricing.format_amount(item.price, venue.currency),
                "money": format_money(item.price, venue.currency),
                "tax": pricing.format_percent(item.tax_percent),
                "sold_out": describe_sold_out(until.astimezone(at.tzinfo), at) if until else "",
                "photo": photos.thumbnail_path(item.photo_id, "small") if item.photo_id else None,
            }
            for item in category.items.all()
            for until in [item.get_sold_out_until(at)]
        ]
        rows.append((category, lines))
    return {
        "venue": venue,
        "access": request.access,
        "menu": Menu.objects.filter(venue=venue).first(),
        "categories": rows,
        "dish_count": sum(len(items) for _category, items in rows),
        "has_photos": any(line["photo"] for _category, items in rows for line in items),
        "sold_out": sum(bool(line["sold_out"]) for _category, items in rows for line in items),
        "can_edit": request.access.may(Right.MENU),
        "can_sell_out": request.access.may(Right.SOLD_OUT),
        "message": message,
        "opened": opened,
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
        editing.set_published(venue, is_published=is_published, actor=request.access.actor, now=venue.now())
    except ApiError as refusal:
        messages.error(request, refusal.message)
    else:
        published = _("The menu was published. Orders are now limited to its dishes and use its prices.")
        unpublished = _("The menu was unpublished. Orders accept any item id again.")
        messages.success(request, published if is_published else unpublished)
    return redirect("menu", venue=venue.public_id)


def get_row(request: PageRequest, kind: str, key: UUID) -> MenuItem | MenuCategory:
    """Return the venue's "item" or "category". Raises Http404, also for one of another venue."""
    rows: QuerySet[Any] = (MenuItem if kind == "item" else MenuCategory).objects.select_related("menu")
    row: MenuItem | MenuCategory = get_object_or_404(rows, menu__venue=request.access.venue, pk=key)
    return row


def change_item(request: PageRequest, item: Any, **changes: Any) -> None:
    rows = MenuItem.objects.filter(pk=item.pk)
    change_items(rows, changes, actor=request.access.actor, now=request.access.venue.now())


def respond_updated(request: PageRequest, message: str, *, opened: UUID | None = None) -> HttpResponse:
    """Render the updated list for htmx, with the actions of a row still open; otherwise redirect to the menu page."""
    if request.headers.get("HX-Request") == "true":
        return render(request, "orders/menu_list.html", build_context(request, message, opened))
    messages.success(request, message)
    return redirect("menu", venue=request.access.venue.public_id)


@page(Right.SOLD_OUT, Right.MENU, section="menu", methods=("POST",))
def set_sold_out(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Mark a dish as sold out until a time, or for the venue's day, or as available again. Hidden dishes stay so."""
    item = get_row(request, "item", key)
    if request.POST.get("to") == "back":
        change_item(request, item, is_sold_out=False)
        return respond_updated(request, _("%(dish)s is available again.") % {"dish": item.name})
    form = SoldOutForm(request.POST)
    if not form.is_valid():
        return respond_updated(request, _("Not saved: enter a time such as 18:00, or none."), opened=key)
    if not (clock := form.cleaned_data["until"]):
        change_item(request, item, is_sold_out=True)
        return respond_updated(request, _("%(dish)s is sold out today.") % {"dish": item.name})
    at = request.access.venue.now().astimezone(zone(request.access.venue.timezone))
    day = at.date() if clock > at.time() else at.date() + timedelta(days=1)
    until = datetime.combine(day, clock, at.tzinfo)
    change_item(request, item, sold_out_until=until)
    message = _("%(dish)s is %(state)s.") % {"dish": item.name, "state": describe_sold_out(until, at)}
    return respond_updated(request, message, opened=key)


@page(Right.SOLD_OUT, Right.MENU, section="menu", methods=("POST",))
def set_stock(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Set how many portions of a dish are left; empty: not counted."""
    item = get_row(request, "item", key)
    form = StockForm(request.POST)
    if not form.is_valid():
        message = _("Not saved: portions are a whole number from 0 to %(most)s, or empty.")
        return respond_updated(request, message % {"most": format_number(MAX_STOCK)}, opened=key)
    stock = form.cleaned_data["stock"]
    change_item(request, item, stock=stock)
    message = _("%(dish)s: not counted.") if stock is None else _("%(dish)s: %(count)s left.")
    return respond_updated(request, message % {"dish": item.name, "count": stock}, opened=key)


@page(Right.MENU, section="menu", methods=("POST",))
def set_available(request: PageRequest, *, key: UUID) -> HttpResponse:
    item = get_row(request, "item", key)
    is_on = request.POST.get("to") == "on"
    change_item(request, item, is_available=is_on)
    message = _("%(dish)s is now available.") if is_on else _("%(dish)s is now hidden.")
    return respond_updated(request, message % {"dish": item.name}, opened=key)


@page(Right.MENU, section="menu", methods=("POST",))
def move_row(request: PageRequest, *, key: UUID, kind: str) -> HttpResponse:
    row = get_row(request, kind, key)
    up = request.POST.get("to") == "up"
    if editing.move(row, up=up, actor=request.access.actor, now=request.access.venue.now()):
        message = _("%(name)s was moved up.") if up else _("%(name)s was moved down.")
    else:
        message = _("%(name)s is already first.") if up else _("%(name)s is already last.")
    return respond_updated(request, message % {"name": row.name}, opened=key)


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest, *, kind: str, key: UUID | None = None) -> HttpResponse:
    """Add or edit a dish or a category."""
    venue = request.access.venue
    row: Any = get_row(request, kind, key) if key else None
    menu = get_menu(request)
    categories = MenuCategory.objects.filter(menu=menu)
    if kind == "item" and row is None and not categories.exists():
        messages.info(request, _("Dishes belong to categories. Add a category first."))
        return redirect("menu-category-new", venue=venue.public_id)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form: Any = FORMS[kind](*sent, instance=row, menu=menu)
    if "category" in request.GET and not form.is_bound:
        form.initial["category"] = request.GET["category"]
    if form.is_valid():
        siblings = form.cleaned_data["category"].items if kind == "item" else categories
        if try_save(form, siblings, actor=request.access.actor):
            messages.success(request, _("Saved: %(name)s.") % {"name": form.instance.name})
            return redirect("menu", venue=venue.public_id)
    stations = menu.items.exclude(station="").order_by("station").values_list("station", flat=True).distinct()
    context = {
        "form": form,
        "row": row,
        "kind": kind,
        "saved_name": form.initial.get("name", ""),
        **fold_fields(form, FOLDED_FIELDS[kind]),
        "stations": stations if kind == "item" else (),
    }
    return render(request, "orders/menu_form.html", context, status=400 if form.is_bound else 200)


def fold_fields(form: Any, parts: Iterable[tuple[Any, Sequence[str]]]) -> dict[str, Any]:
    """Return the fields of a form for its template: `main_fields`, and `folded` parts, open if they have errors."""
    folded = []
    for title, names in parts:
        fields = [form[name] for name in names if name in form.fields]
        values = [form.initial.get(field.name) for field in fields]
        count = sum(len(each) if isinstance(each, list | dict) else each not in (None, "") for each in values)
        if fields:
            folded.append((title, fields, count, any(field.errors for field in fields)))
    inside = {name for _title, names in parts for name in names}
    return {"main_fields": [field for field in form if field.name not in inside], "folded": folded}


def get_menu(request: PageRequest) -> Menu:
    """Return the venue's menu; a GET does not create one."""
    venue = request.access.venue
    if request.method == "POST":
        return editing.get_or_create_menu(venue)
    return Menu.objects.select_related("venue").filter(venue=venue).first() or Menu(venue=venue)


def try_save(form: Any, siblings: Any, *, actor: str) -> bool:
    """Save the row, a new one at the end. Return False with a form error after a concurrent change."""
    try:
        with transaction.atomic():
            Menu.objects.select_for_update().get(pk=form.menu.pk)
            row, now = form.instance, form.menu.venue.now()
            stored = type(row).objects.select_for_update().filter(pk=row.pk).values_list("pk")
            if not row._state.adding and not list(stored):
                form.add_error(None, _("This was just deleted by another user or program."))
                return False
            if form.instance._state.adding or "category" in form.changed_data:
                last = siblings.aggregate(last=Max("position"))["last"]
                form.instance.position = 0 if last is None else min(last + 1, 32_767)
            with stock.recording_sold_out(form.menu.items.filter(pk=row.pk), actor=actor, now=now):
                form.save()
            if "category" in form.changed_data:
                form.instance.save(update_fields=["position"])
            if set(form.changed_data) - {"file"}:
                editing.record_updated(form.menu, actor=actor, now=now)
            if isinstance(form, ItemForm):
                form.save_photo(actor=actor)
    except IntegrityError:
        form.add_error(None, _("The menu was just changed by another user. Check it and try again."))
        return False
    return True


@page(Right.MENU, section="menu", methods=("GET", "HEAD", "POST"))
def delete(request: PageRequest, *, kind: str, key: UUID) -> HttpResponse:
    """Ask for confirmation, then delete a dish or an empty category."""
    row = get_row(request, kind, key)
    if request.method != "POST":
        return render(request, "orders/menu_remove.html", {"row": row, "kind": kind})
    try:
        editing.delete(row, actor=request.access.actor, now=request.access.venue.now())
    except ApiError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Deleted: %(name)s.") % {"name": row.name})
    return redirect("menu", venue=request.access.venue.public_id)


MENU_STEP = Step(
    position=10,
    label=gettext_lazy("Publish your menu"),
    why=gettext_lazy("Orders are then limited to its dishes and use its prices."),
    page="menu",
    right=Right.MENU,
    is_done=Exists(Menu.objects.filter(venue=OuterRef("pk"), is_published=True)),
)
