"""Where staff join restaurants to venues, write discounts, and see what is on sale and what was booked."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest

from catalogue.forms import WEEKDAYS
from catalogue.models import FlowRule, Restaurant
from catalogue.tasks import ring_for_slots
from config.long_tables import LongTableAdmin


class FlowRuleForm(forms.ModelForm[FlowRule]):
    """A weekly discount, its days to be ticked."""

    weekdays = forms.TypedMultipleChoiceField(choices=WEEKDAYS, coerce=int, widget=forms.CheckboxSelectMultiple)


class LaysOutSlots(admin.ModelAdmin[Any]):
    """Has a worker lay out the slots of the restaurant whose page was saved, with its rules and its hours."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Store the rules on the page, then ring."""
        super().save_related(request, form, formsets, change)
        restaurant = form.instance.pk if isinstance(form.instance, Restaurant) else form.instance.restaurant_id
        transaction.on_commit(partial(ring_for_slots, restaurant))


class FlowRuleInline(admin.TabularInline[FlowRule, Restaurant]):
    """The discounts of a restaurant."""

    model = FlowRule
    form = FlowRuleForm
    extra = 0


@admin.register(FlowRule)
class FlowRuleAdmin(LaysOutSlots, LongTableAdmin):
    """Discounts that come back every week."""

    form = FlowRuleForm
    list_display = ["restaurant", "days", "time", "percent", "active"]
    list_select_related = ["restaurant"]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    autocomplete_fields = ["restaurant"]

    @admin.display(description="Days")
    def days(self, rule: FlowRule) -> str:
        """The weekdays in words."""
        return " ".join(dict(WEEKDAYS)[day] for day in sorted(rule.weekdays))
