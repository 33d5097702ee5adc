"""Menus and dishes in the back office."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, ForeignKey, Q, QuerySet, Value
from django.forms import NumberInput
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.admin.row_history import RowHistoryAdmin
from accounts.api_keys.authentication import get_staff_actor
from accounts.models import Venue
from framework.admin.action_confirmation import confirmed_action
from framework.admin.large_tables import LargeTableAdmin
from framework.db.text_search import fold
from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ChangedFieldsAdmin, ChangedFieldsForm
from framework.timezones import zone
from orders import pricing
from orders.admin.events import NO_ROW, MenuEventsAdmin, lock_menus, parse_uuid, record_updated
from orders.menu import editing, photos, stock
from orders.menu.forms import AllergensAndPhotoForm
from orders.menu.item_changes import change_items
from orders.models import Menu, MenuCategory, MenuItem
from orders.models.menus import ITEM_SEARCH_TEXT

OF_MENU = "menu__id__exact"
MIN_QUERY_LENGTH = 3
# Menus of venues whose dishes a search by name shows.
MAX_MENUS = 100


class MenuCategoryInline(admin.TabularInline[MenuCategory, Menu]):
    """The categories of a menu. Only an empty one can be deleted."""

    model = MenuCategory
    form = ChangedFieldsForm
    fields = ["position", "name", "served_from", "served_until", "translations"]
    ordering = ["position", "name"]
    extra = 1


@admin.register(Menu)
class MenuAdmin(RowHistoryAdmin, MenuEventsAdmin, ChangedFieldsAdmin):
    """Menus with their categories; dishes have their own list."""

    menu_column = "id"
    list_display = ["venue", "is_published", "dishes"]
    list_select_related = ["venue"]
    list_filter = ["is_published"]
    search_fields = ["venue__name__unaccent"]
    search_help_text = "Venue"
    ordering = ["venue__name", "id"]
    autocomplete_fields = ["venue"]
    inlines = [MenuCategoryInline]
    changes_also = ((MenuCategory, "menu_id"), (MenuItem, "menu_id"))
    actions = ["publish", "unpublish"]
    show_full_result_count = False
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Menu]:
        menus: QuerySet[Menu] = super().get_queryset(request)
        return menus.annotate(
            number_of_items=Count("items"),
            shows_items=Value(request.user.has_perms(["orders.view_menuitem"])),
            adds_items=Value(request.user.has_perms(["orders.add_menuitem"])),
        )

    def get_fields(self, request: HttpRequest, obj: Menu | None = None) -> list[Any]:
        return ["venue", "is_published", "dishes"] if obj else ["venue", "is_published"]

    def get_readonly_fields(self, request: HttpRequest, obj: Menu | None = None) -> list[str]:
        return ["venue", "dishes"] if obj else []

    @admin.display(description="Dishes and drinks")
    def dishes(self, menu: Any) -> SafeString:
        number = f"{menu.number_of_items} on the menu"
        of_menu = f"{reverse('admin:orders_menuitem_changelist')}?{OF_MENU}={menu.pk}"
        shown = format_html('<a href="{}">{}</a>', of_menu, number) if menu.shows_items else number
        add = format_html(' · <a href="{}">Add one</a>', build_add_url(menu.pk)) if menu.adds_items else ""
        return format_html("{}{}", shown, add)

    @confirmed_action(
        "Publish: limit orders to the menu and use its prices",
        message="Orders of these venues are limited to the menu from now on, and use its prices.",
        confirm_label="Publish menus",
        applies_to=lambda menus: menus.filter(is_published=False),
    )
    def publish(self, request: HttpRequest, queryset: QuerySet[Menu]) -> None:
        self.message_user(request, f"{set_published(request, queryset, True)} published.", messages.SUCCESS)

    @confirmed_action(
        "Unpublish: accept any item id, without prices",
        message="Orders of these venues may name any item id from now on, and have no prices.",
        confirm_label="Unpublish menus",
        applies_to=lambda menus: menus.filter(is_published=True),
    )
    def unpublish(self, request: HttpRequest, queryset: QuerySet[Menu]) -> None:
        self.message_user(request, f"{set_published(request, queryset, False)} unpublished.", messages.SUCCESS)


def set_published(request: HttpRequest, menus: QuerySet[Menu], is_published: bool) -> int:
    """Publish or unpublish the menus, also empty ones; return how many there are."""
    with transaction.atomic():
        # The list of the page is grouped, and no lock is possible on groups.
        rows = Menu.objects.filter(pk__in=list(menus.values_list("pk", flat=True)))
        found = dict(rows.select_for_update().values_list("pk", "is_published"))
        changed = [menu for menu, was_published in found.items() if was_published != is_published]
        Menu.objects.filter(pk__in=changed).update(is_published=is_published)
        record_updated(request, changed)
    return len(found)


class MenuItemListForm(ValidatesUniqueness, ChangedFieldsForm):
    """Shows amounts without trailing zeros: 9.50 and 10, not 9.500 and 10.000."""

    # Ids are unique on a menu.
    unique_with = frozenset({"menu"})

    class Meta:
        model = MenuItem
        fields = ["price", "tax_percent"]
        # As narrow as the admin's integers.
        widgets = {
            name: NumberInput(attrs={"class": "vIntegerField"})
            for name in ("price", "tax_percent", "takeaway_tax_percent")
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.menu_id:
            self.initial["price"] = pricing.format_amount(self.instance.price, self.instance.menu.venue.currency)
            self.initial["tax_percent"] = pricing.format_percent(self.instance.tax_percent)
            takeaway = self.instance.takeaway_tax_percent
            self.initial["takeaway_tax_percent"] = None if takeaway is None else pricing.format_percent(takeaway)


class MenuItemForm(AllergensAndPhotoForm, MenuItemListForm):
    """The form on the page of a dish."""


@admin.register(MenuItem)
class MenuItemAdmin(RowHistoryAdmin, MenuEventsAdmin, ChangedFieldsAdmin, LargeTableAdmin):
    """Dishes and drinks. New ones are added from the page of their menu."""

    form = MenuItemForm
    list_display = ["name", "ref", "venue", "category", "price", "currency", "tax", "is_available", "is_sold_out"]
    list_editable = ["price", "is_available"]
    list_filter = ["is_available"]
    # The field shows the search box; `get_search_results` searches.
    search_fields = ["ref"]
    search_help_text = "At least three letters of the name or id of the dish, or of the name of the venue"
    ordering = ["menu_id", "category__position", "position", "name", "id"]
    actions = ["sell_out", "make_available"]
    fields = [
        *("menu", "category", ("ref", "name"), "description", ("price", "tax_percent", "takeaway_tax_percent")),
        *("allergens", "diets", "translations", "current_photo", "file", "removes_photo", ("station", "prep_minutes")),
        *(("is_available", "sold_out_on", "sold_out_until", "stock"), "position"),
    ]

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [name for name in self.list_display if name != "venue" or OF_MENU not in request.GET]

    def get_sortable_by(self, request: HttpRequest) -> Any:
        """The dishes of one menu are sorted by any column; all dishes are too many."""
        return self.list_display if OF_MENU in request.GET else ()

    def get_ordering(self, request: HttpRequest) -> Any:
        """The dishes of one menu in its order; all dishes by the key, because no index has the order of menus."""
        return self.ordering if OF_MENU in request.GET else ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[MenuItem]:
        return super().get_queryset(request).select_related("menu__venue", "category")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[MenuItem], search_term: str
    ) -> tuple[QuerySet[MenuItem], bool]:
        """The dishes with this text, and those of the first venues with this name. A short text has no trigram."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if len(term) < MIN_QUERY_LENGTH:
            return queryset.none(), False
        menus = Menu.objects.filter(venue__name__unaccent__icontains=term).values_list("pk", flat=True)
        has_text = Q(searched__contains=fold(Value(term)))
        return queryset.alias(searched=ITEM_SEARCH_TEXT).filter(has_text | Q(menu__in=list(menus[:MAX_MENUS]))), False

    def get_readonly_fields(self, request: HttpRequest, obj: MenuItem | None = None) -> list[str]:
        return ["menu", "current_photo"] if obj else []

    def get_fields(self, request: HttpRequest, obj: MenuItem | None = None) -> list[Any]:
        has_photo = obj is not None and obj.photo_id
        left_out = set() if has_photo else {"current_photo", "removes_photo"}
        if obj and not self.has_change_permission(request, obj):
            left_out |= {"file", "removes_photo"}
        return [name for name in self.fields or () if name not in left_out]

    def get_changelist_form(self, request: HttpRequest, **options: Any) -> Any:
        return super().get_changelist_form(request, **{"form": MenuItemListForm} | options)

    def save_model(self, request: HttpRequest, obj: MenuItem, form: Any, change: bool) -> None:
        lock_menus(Menu.objects.filter(pk=obj.menu_id))
        rows, actor = MenuItem.objects.filter(pk=obj.pk), get_staff_actor(request)
        list(rows.select_for_update().values_list("pk"))
        with stock.recording_sold_out(rows, actor=actor, now=obj.menu.venue.now()):
            super().save_model(request, obj, form, change)
        if isinstance(form, MenuItemForm):
            form.save_photo(actor=actor)

    def delete_model(self, request: HttpRequest, obj: MenuItem) -> None:
        editing.delete(obj, actor=get_staff_actor(request), now=obj.menu.venue.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[MenuItem]) -> None:
        with transaction.atomic():
            photos.discard_on_commit(queryset.values_list("photo", flat=True))
            super().delete_queryset(request, queryset)

    @admin.display(description="Current photo")
    def current_photo(self, item: MenuItem) -> SafeString | None:
        if not item.photo_id:
            return None
        return format_html(
            '<img src="{}" width="200" alt="{}">', photos.thumbnail_path(item.photo_id, "small"), item.name
        )

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Add to the menu that the address names; without one, show the menus."""
        if self.has_add_permission(request) and get_menu_id(request) == NO_ROW:
            self.message_user(request, "Choose the menu that the dish is to be on.", messages.INFO)
            return HttpResponseRedirect(reverse("admin:orders_menu_changelist"))
        return super().add_view(request, form_url, extra_context)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return super().get_changeform_initial_data(request) | {"menu": get_menu_id(request)}

    def response_add(self, request: HttpRequest, obj: MenuItem, post_url_continue: str | None = None) -> HttpResponse:
        response = super().response_add(request, obj, post_url_continue)
        return redirect_to_next(request, obj) or response

    def response_change(self, request: HttpRequest, obj: MenuItem) -> HttpResponse:
        response = super().response_change(request, obj)
        return redirect_to_next(request, obj) or response

    def formfield_for_foreignkey(self, db_field: ForeignKey[Any, Any], request: HttpRequest, **options: Any) -> Any:
        menu = Menu.objects.filter(id=get_menu_id(request))
        if db_field.name == "menu":
            options |= {"queryset": menu.select_related("venue"), "empty_label": None}
        else:
            options["queryset"] = MenuCategory.objects.filter(menu__in=menu).order_by("position", "name")
        return super().formfield_for_foreignkey(db_field, request, **options)

    @admin.display(description="Venue", ordering="menu__venue__name")
    def venue(self, item: MenuItem) -> str:
        return item.menu.venue.name

    @admin.display(description="Currency")
    def currency(self, item: MenuItem) -> str:
        return item.menu.venue.currency

    @admin.display(description="Tax", ordering="tax_percent")
    def tax(self, item: MenuItem) -> str:
        return f"{pricing.format_percent(item.tax_percent)}\N{NO-BREAK SPACE}%"

    @admin.display(description="Sold out", boolean=True)
    def is_sold_out(self, item: MenuItem) -> bool:
        return item.get_sold_out_until(item.menu.venue.now().astimezone(zone(item.menu.venue.timezone))) is not None

    @confirmed_action(
        "Sold out today",
        message="These dishes cannot be ordered for the rest of the day.",
        confirm_label="Mark as sold out",
    )
    def sell_out(self, request: HttpRequest, queryset: QuerySet[MenuItem]) -> None:
        number = change_dishes(queryset, {"is_sold_out": True}, actor=get_staff_actor(request))
        self.message_user(request, f"{number} sold out today.", messages.SUCCESS)

    @confirmed_action(
        "Available again",
        message="These dishes can be ordered again.",
        confirm_label="Mark as available",
    )
    def make_available(self, request: HttpRequest, queryset: QuerySet[MenuItem]) -> None:
        changes = {"is_sold_out": False, "is_available": True}
        number = change_dishes(queryset, changes, actor=get_staff_actor(request))
        self.message_user(request, f"{number} available again.", messages.SUCCESS)


@transaction.atomic
def change_dishes(dishes: QuerySet[MenuItem], changes: Mapping[str, Any], *, actor: str) -> int:
    """Change dishes of any venues, each by the time of its venue; return how many there are."""
    venues = Venue.objects.filter(menu__items__in=dishes.order_by()).distinct().order_by("pk")
    return sum(
        change_items(dishes.filter(menu__venue=venue), changes, actor=actor, now=venue.now()) for venue in venues
    )


def get_menu_id(request: HttpRequest) -> UUID:
    """Return the menu from the URL: of the dish, of the parameter, or of the list filter."""
    item = request.resolver_match.kwargs.get("object_id") if request.resolver_match else None
    if item:
        return MenuItem.objects.filter(id=parse_uuid(item)).values_list("menu_id", flat=True).first() or NO_ROW
    came_from = parse_qs(request.GET.get("_changelist_filters", ""))
    named = request.GET.get("menu") or came_from.get(OF_MENU, [""])[0]
    return parse_uuid(named)


def build_add_url(menu: UUID) -> str:
    return f"{reverse('admin:orders_menuitem_add')}?menu={menu}"


def redirect_to_next(request: HttpRequest, item: MenuItem) -> HttpResponse | None:
    """Redirect to the form for another dish after “Save and add another”; otherwise None."""
    return HttpResponseRedirect(build_add_url(item.menu_id)) if "_addanother" in request.POST else None
