"""Stores the event of a menu that was changed in the back office."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.api_keys.authentication import get_staff_actor
from orders.menu import editing
from orders.models import Menu

NO_ROW = UUID(int=0)


def record_updated(request: HttpRequest, menus: Iterable[UUID]) -> None:
    """Store `menu.updated` for each menu, in the transaction of the change."""
    for menu in Menu.objects.filter(pk__in=set(menus)).select_related("venue"):
        editing.record_updated(menu, actor=get_staff_actor(request), now=menu.venue.now())


class MenuEventsAdmin(admin.ModelAdmin[Any]):
    """An admin of rows of menus; `menu_column` is the column with the menu. A deleted menu is no event.

    A request that writes stores one event for each menu, and the page of a row locks its menu before the checks.
    """

    menu_column = "menu_id"

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        if request.method != "POST":
            return super().changeform_view(request, object_id, form_url, extra_context)
        with recording_updates(request):
            menus = self.model._default_manager.filter(pk=parse_uuid(object_id or "")).values(self.menu_column)
            lock_menus(Menu.objects.filter(pk__in=menus))
            return super().changeform_view(request, object_id, form_url, extra_context)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if request.method != "POST":
            return super().changelist_view(request, extra_context)
        with recording_updates(request):
            return super().changelist_view(request, extra_context)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if set(form.changed_data) - {"file"} or any(formset.has_changed() for formset in formsets):
            request.changed_menus.add(getattr(form.instance, self.menu_column))  # type: ignore[attr-defined]

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        menu = getattr(obj, self.menu_column)
        super().delete_model(request, obj)
        record_updated(request, [menu])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with transaction.atomic():
            menus = list(queryset.values_list(self.menu_column, flat=True))
            super().delete_queryset(request, queryset)
            record_updated(request, menus)


@contextmanager
def recording_updates(request: HttpRequest) -> Iterator[None]:
    """Store the event of each menu that the block adds to `request.changed_menus`, in one transaction with it."""
    with transaction.atomic():
        request.changed_menus = set()  # type: ignore[attr-defined]
        yield
        record_updated(request, request.changed_menus)  # type: ignore[attr-defined]


def lock_menus(menus: QuerySet[Menu]) -> None:
    """Lock the menus until the end of the transaction, as editing.lock_menu does."""
    list(menus.select_for_update().order_by("pk").values_list("pk"))


def parse_uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return NO_ROW
