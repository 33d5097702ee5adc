"""Stores the event of a menu that was changed in the back office."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.api_keys.authentication import get_staff_actor
from orders.menu import editing
from orders.models import Menu


def record_updated(request: HttpRequest, menus: Iterable[UUID]) -> None:
    """Store `menu.updated` for each menu, in the transaction of the change."""
    for menu in Menu.objects.filter(pk__in=set(menus)).select_related("venue"):
        editing.record_updated(menu, actor=get_staff_actor(request), now=timezone.now())


class MenuEventsAdmin(admin.ModelAdmin[Any]):
    """An admin of rows of menus; `menu_column` is the column with the menu. A deleted menu is no event."""

    menu_column = "menu_id"

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if form.has_changed() or any(formset.has_changed() for formset in formsets):
            record_updated(request, [getattr(form.instance, self.menu_column)])

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        menu = getattr(obj, self.menu_column)
        super().delete_model(request, obj)
        record_updated(request, [menu])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with transaction.atomic():
            menus = list(queryset.values_list(self.menu_column, flat=True))
            super().delete_queryset(request, queryset)
            record_updated(request, menus)
