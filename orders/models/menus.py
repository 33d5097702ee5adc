"""The menu of a venue: items with prices and serving times, and uploaded files."""

from collections.abc import Collection
from datetime import datetime, time, timedelta
from decimal import Decimal

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Concat
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_noop as _

from accounts.models import Venue
from framework.db.row_history import track_history
from framework.db.text_search import fold
from framework.public_ids import new_id
from orders.models import translations
from orders.models.refs import validate_ref
from orders.pricing import get_decimals, round_amount

# The text of a dish that the search of the back office matches; indexed by trigrams.
ITEM_SEARCH_TEXT = fold(Concat("name", Value("\n"), "ref", output_field=models.TextField()))


@track_history()
class Menu(models.Model):
    """The menu of a venue. While it is published, orders contain only its items, at its prices."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.OneToOneField(Venue, on_delete=models.CASCADE, related_name="menu")
    is_published = models.BooleanField(
        "published",
        default=False,
        help_text="Orders are limited to a published menu; without one they accept any item id and have no prices",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"Menu of {self.venue}"


# The texts of a category that may be translated, with their lengths.
CATEGORY_LENGTHS = {"name": 100}


@track_history()
class MenuCategory(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    menu = models.ForeignKey(Menu, on_delete=models.CASCADE, related_name="categories", db_index=False)
    name = models.CharField(max_length=100)
    position = models.PositiveSmallIntegerField(default=0)
    served_from = models.TimeField(null=True, blank=True, help_text="In the venue's time zone; empty: always")
    served_until = models.TimeField(
        null=True, blank=True, help_text="End time; if it is earlier than the start, it is on the next day"
    )
    translations = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="By language: {'da': {'name': ...}}"
    )

    class Meta:
        verbose_name_plural = "menu categories"
        constraints = [
            models.UniqueConstraint(fields=["menu", "name"], name="menu_category_name_unique_per_menu"),
            # Referenced by the foreign key of orders/sql/menu_item_and_its_category_on_one_menu.sql.
            models.UniqueConstraint(fields=["id", "menu"], name="menu_category_of_a_menu"),
            models.CheckConstraint(
                name="menu_category_has_both_serving_times_or_none",
                condition=Q(served_from__isnull=True, served_until__isnull=True)
                | Q(served_from__isnull=False, served_until__isnull=False) & ~Q(served_from=F("served_until")),
                violation_error_message=gettext_lazy("Enter two different times, or none."),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        translations.validate(self.translations, CATEGORY_LENGTHS)

    def is_served_at(self, at: time) -> bool:
        """Whether the category is served at this time of day at the venue."""
        if self.served_from is None or self.served_until is None:
            return True
        if self.served_from < self.served_until:
            return self.served_from <= at < self.served_until
        return at >= self.served_from or at < self.served_until


class Allergen(models.TextChoices):
    """The fourteen allergens of Regulation (EU) 1169/2011, Annex II, in its order."""

    GLUTEN = "gluten", _("cereals containing gluten")
    CRUSTACEANS = "crustaceans", _("crustaceans")
    EGGS = "eggs", _("eggs")
    FISH = "fish", _("fish")
    PEANUTS = "peanuts", _("peanuts")
    SOYBEANS = "soybeans", _("soybeans")
    MILK = "milk", _("milk")
    NUTS = "nuts", _("nuts")
    CELERY = "celery", _("celery")
    MUSTARD = "mustard", _("mustard")
    SESAME = "sesame", _("sesame seeds")
    SULPHITES = "sulphites", _("sulphur dioxide and sulphites")
    LUPIN = "lupin", _("lupin")
    MOLLUSCS = "molluscs", _("molluscs")


# The names where many dishes are listed, of those that have a shorter one.
SHORT_NAMES = {Allergen.GLUTEN: _("gluten"), Allergen.SESAME: _("sesame"), Allergen.SULPHITES: _("sulphites")}


def name_allergens(allergens: Collection[str], *, is_short: bool = False) -> str:
    """Return the allergens as text, in the order of the law: `cereals containing gluten, milk`; or empty.

    The short names are for lists: `gluten, milk`.
    """
    short: dict[Allergen, str] = SHORT_NAMES if is_short else {}
    return ", ".join(gettext(short.get(allergen, allergen.label)) for allergen in Allergen if allergen in allergens)


class Diet(models.TextChoices):
    """Diets that a dish is suitable for."""

    VEGETARIAN = "vegetarian", _("vegetarian")
    VEGAN = "vegan", _("vegan")
    GLUTEN_FREE = "gluten_free", _("gluten-free")
    LACTOSE_FREE = "lactose_free", _("lactose-free")
    HALAL = "halal", _("halal")
    KOSHER = "kosher", _("kosher")


class DishPhoto(models.Model):
    """The files of a photo. The row exists before the files and until they are deleted, so that none is left behind.

    A photo without an item is being uploaded, or is to be deleted. Another image is another row, so that the bytes
    behind a URL never change.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"Photo of {self.created_at:%Y-%m-%d %H:%M}"


# The texts of a dish that may be translated, with their lengths.
LENGTHS = {"name": 200, "description": 500}


@track_history(exclude=("stock",))
class MenuItem(models.Model):
    """A dish or a drink. `ref` is the `menu_item_id` by which callers order it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    menu = models.ForeignKey(Menu, on_delete=models.CASCADE, related_name="items", db_index=False)
    # On the same menu (orders/sql/menu_item_and_its_category_on_one_menu.sql).
    # RESTRICT allows deleting the whole menu, unlike PROTECT.
    category = models.ForeignKey(MenuCategory, on_delete=models.RESTRICT, related_name="items")
    ref = models.CharField("menu item id", max_length=64, validators=[validate_ref])
    name = models.CharField(max_length=200)
    description = models.CharField(max_length=500, blank=True, default="")
    # 100 lines of 999 items at this price fit the columns of the order.
    price = models.DecimalField(max_digits=10, decimal_places=3, help_text="In the venue's currency")
    tax_percent = models.DecimalField(max_digits=6, decimal_places=3, default=Decimal(0))
    takeaway_tax_percent = models.DecimalField(
        max_digits=6, decimal_places=3, null=True, blank=True, help_text="For pick-up and delivery; empty: the same"
    )
    allergens = ArrayField(models.CharField(max_length=11, choices=Allergen), default=list, db_default=[], blank=True)
    diets = ArrayField(models.CharField(max_length=12, choices=Diet), default=list, db_default=[], blank=True)
    translations = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="By language: {'da': {'name': ..., 'description': ...}}"
    )
    station = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="Where it is made: grill, bar"
    )
    prep_minutes = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="If it takes longer than the venue's preparation time"
    )
    photo = models.OneToOneField(
        DishPhoto, on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="item"
    )
    is_available = models.BooleanField("available", default=True, help_text="If off, the dish cannot be ordered")
    sold_out_on = models.DateField(null=True, blank=True, help_text="Sold out on this day, in the venue's time zone")
    sold_out_until = models.DateTimeField(
        null=True, blank=True, help_text="Sold out until this moment, and available again by itself"
    )
    stock = models.PositiveIntegerField(
        null=True, blank=True, help_text="Portions left; each order takes its own. Empty: not counted"
    )
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["menu", "ref"], name="menu_item_id_unique_per_menu"),
            # Referenced by the foreign keys of orders/sql/modifiers_on_one_menu.sql.
            models.UniqueConstraint(fields=["id", "menu"], name="menu_item_of_a_menu"),
            models.CheckConstraint(name="menu_item_price_not_negative", condition=Q(price__gte=0)),
            models.CheckConstraint(
                name="menu_item_tax_from_0_to_100_percent", condition=Q(tax_percent__gte=0, tax_percent__lte=100)
            ),
            models.CheckConstraint(
                name="menu_item_takeaway_tax_from_0_to_100_percent",
                condition=Q(takeaway_tax_percent__gte=0, takeaway_tax_percent__lte=100),
            ),
            models.CheckConstraint(name="menu_item_id_not_empty", condition=~Q(ref="")),
            models.CheckConstraint(name="menu_item_diets_known", condition=Q(diets__contained_by=Diet.values)),
            models.CheckConstraint(
                name="menu_item_allergens_known", condition=Q(allergens__contained_by=Allergen.values)
            ),
            models.CheckConstraint(
                # orders/sql/has_no_duplicates.sql
                name="menu_item_allergens_listed_once",
                condition=Func(F("allergens"), function="has_no_duplicates", output_field=models.BooleanField()),
            ),
        ]
        indexes = [GinIndex(OpClass(ITEM_SEARCH_TEXT, "gin_trgm_ops"), name="menu_item_by_trigrams")]

    def __str__(self) -> str:
        return self.name

    @property
    def allergen_names(self) -> str:
        return name_allergens(self.allergens)

    @property
    def short_allergen_names(self) -> str:
        return name_allergens(self.allergens, is_short=True)

    @property
    def diet_names(self) -> str:
        """The diets as text: `Vegetarian, gluten-free`; or empty."""
        return ", ".join(gettext(diet.label) for diet in Diet if diet in self.diets).capitalize()

    def get_sold_out_until(self, at: datetime) -> datetime | None:
        """Until when it is marked as sold out; None if it is not at this time at the venue."""
        marks = (get_midnight(at) if self.sold_out_on == at.date() else None, self.sold_out_until)
        return max((mark for mark in marks if mark and mark > at), default=None)

    def is_sold_out(self, at: datetime) -> bool:
        """Whether it is marked as sold out at this time at the venue, or no portion is left."""
        return self.get_sold_out_until(at) is not None or self.stock == 0

    def get_tax_percent(self, fulfilment: str) -> Decimal:
        """The tax rate for orders of this fulfilment."""
        if fulfilment == "dine_in" or self.takeaway_tax_percent is None:
            return self.tax_percent
        return self.takeaway_tax_percent

    def clean(self) -> None:
        translations.validate(self.translations, LENGTHS)
        if self.category_id and self.category.menu_id != self.menu_id:
            raise ValidationError({"category": gettext("This category is on another menu.")})
        if self.price is not None and self.menu_id:
            currency = self.menu.venue.currency
            if self.price != round_amount(self.price, currency):
                message = gettext("A price in %(currency)s has at most %(decimals)s decimals.")
                values = {"currency": currency, "decimals": get_decimals(currency)}
                raise ValidationError({"price": message % values})

    def find_obstacle(self, at: datetime) -> str | None:
        """Return why the item cannot be ordered at this time at the venue: `sold out today`; None if it can."""
        if not self.is_available:
            return gettext("not available")
        if until := self.get_sold_out_until(at):
            return describe_sold_out(until.astimezone(at.tzinfo), at)
        if self.stock == 0:
            return gettext("sold out")
        if not self.category.is_served_at(at.time()):
            times = {"first": f"{self.category.served_from:%H:%M}", "last": f"{self.category.served_until:%H:%M}"}
            return gettext("served from %(first)s to %(last)s") % times
        return None


def get_midnight(at: datetime) -> datetime:
    """Return the end of the day."""
    return datetime.combine(at.date() + timedelta(days=1), time(), at.tzinfo)


def describe_sold_out(until: datetime, at: datetime) -> str:
    """Return `sold out until 18:00`, or `sold out today`; both are times at the venue."""
    if until.date() == at.date():
        return gettext("sold out until %(until)s") % {"until": f"{until:%H:%M}"}
    if until == get_midnight(at):
        return gettext("sold out today")
    return gettext("sold out until %(until)s") % {"until": f"{until:%Y-%m-%d %H:%M}"}


class MenuUpload(models.Model):
    """A parsed file of dishes. It can be applied once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="menu_uploads", db_index=False)
    file_name = models.CharField(max_length=200)
    content = models.JSONField(help_text="Parsed by orders.menu.csv_format")
    created_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["venue", "-created_at"], name="menu_upload_newest_of_venue")]

    def __str__(self) -> str:
        return self.file_name
