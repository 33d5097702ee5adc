"""Modifiers of dishes: sizes, extras and the parts of a combo, in groups that several dishes share."""

from decimal import Decimal

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from framework.db.row_history import track_history
from framework.public_ids import new_id
from orders.models import translations
from orders.models.menus import Allergen, Menu, MenuItem
from orders.models.refs import validate_group_ref, validate_ref
from orders.pricing import find_decimals_error

MAX_CHOICES = 20
# The texts of a group and of a modifier that may be translated.
LENGTHS = {"name": 100}


@track_history()
class ModifierGroup(models.Model):
    """A question about a dish, `Size` or `Extras`, of which `min_choices` to `max_choices` modifiers are chosen."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    menu = models.ForeignKey(Menu, on_delete=models.CASCADE, related_name="modifier_groups", db_index=False)
    ref = models.CharField("modifier group id", max_length=64, validators=[validate_group_ref])
    name = models.CharField(max_length=100)
    min_choices = models.PositiveSmallIntegerField(default=0, help_text="1 or more: the guest must choose")
    max_choices = models.PositiveSmallIntegerField(default=1)
    translations = models.JSONField(default=dict, blank=True, help_text="By language: {'da': {'name': ...}}")
    items = models.ManyToManyField(MenuItem, through="ItemModifierGroup", related_name="modifier_groups")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["menu", "ref"], name="modifier_group_id_unique_per_menu"),
            # Referenced by the foreign keys of orders/sql/modifiers_on_one_menu.sql.
            models.UniqueConstraint(fields=["id", "menu"], name="modifier_group_of_a_menu"),
            models.CheckConstraint(name="modifier_group_id_not_empty", condition=~Q(ref="")),
            models.CheckConstraint(
                name="modifier_group_choices_from_min_to_max",
                condition=Q(max_choices__gte=1, max_choices__lte=MAX_CHOICES, min_choices__lte=F("max_choices")),
                violation_error_message=format_lazy(
                    _("Choose at least the minimum and at most {most}."), most=MAX_CHOICES
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        translations.validate(self.translations, LENGTHS)


@track_history()
class ItemModifierGroup(models.Model):
    """A group that is asked for a dish."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    menu = models.ForeignKey(Menu, on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey(MenuItem, on_delete=models.CASCADE, related_name="item_modifier_groups", db_index=False)
    group = models.ForeignKey(ModifierGroup, on_delete=models.CASCADE, related_name="item_modifier_groups")
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "group"], name="modifier_group_once_per_menu_item"),
        ]

    def __str__(self) -> str:
        return f"{self.group} of {self.item}"


@track_history()
class Modifier(models.Model):
    """A choice of a group. `ref` is the `id` by which callers choose it.

    With `item` it is the part of a combo: ordering it takes a portion of that dish. `nested_group` asks one more
    question about it; the modifiers of that group ask none.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    menu = models.ForeignKey(Menu, on_delete=models.CASCADE, related_name="modifiers", db_index=False)
    group = models.ForeignKey(ModifierGroup, on_delete=models.CASCADE, related_name="modifiers")
    ref = models.CharField("modifier id", max_length=64, validators=[validate_ref])
    name = models.CharField(max_length=100)
    price_delta = models.DecimalField(
        max_digits=10, decimal_places=3, default=Decimal(0), help_text="Added to the price of the dish"
    )
    is_default = models.BooleanField(
        "default", default=False, help_text="Chosen if the guest must choose and chooses nothing"
    )
    is_available = models.BooleanField("available", default=True)
    allergens = ArrayField(models.CharField(max_length=11, choices=Allergen), default=list, db_default=[], blank=True)
    item = models.ForeignKey(MenuItem, on_delete=models.RESTRICT, null=True, blank=True, related_name="part_of")
    nested_group = models.ForeignKey(
        ModifierGroup, on_delete=models.RESTRICT, null=True, blank=True, related_name="asked_by"
    )
    translations = models.JSONField(default=dict, blank=True)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["menu", "ref"], name="modifier_id_unique_per_menu"),
            models.CheckConstraint(name="modifier_id_not_empty", condition=~Q(ref="")),
            models.CheckConstraint(
                name="modifier_allergens_known", condition=Q(allergens__contained_by=Allergen.values)
            ),
            models.CheckConstraint(name="modifier_group_not_nested_in_itself", condition=~Q(nested_group=F("group"))),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        translations.validate(self.translations, LENGTHS)
        message = find_decimals_error(self.price_delta, self.menu.venue.currency) if self.menu_id else None
        if message:
            raise ValidationError({"price_delta": message})
