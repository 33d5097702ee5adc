"""How a venue takes orders: preparation times, capacity, charges."""

from datetime import datetime, timedelta
from decimal import Decimal

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Venue
from framework.db.row_history import track_history
from framework.public_ids import new_id
from orders.models import translations
from orders.pricing import find_decimals_error

DEFAULT_SLOT_MINUTES = 15
# The texts of a charge that may be translated, with their lengths.
CHARGE_LENGTHS = {"name": 100}


class Fulfilment(models.TextChoices):
    """How an order reaches the guest."""

    PICKUP = "pickup"
    DELIVERY = "delivery"
    DINE_IN = "dine_in"


@track_history()
class OrderingSettings(models.Model):
    """The settings of a venue's orders. A venue without a row has the defaults."""

    venue = models.OneToOneField(Venue, on_delete=models.CASCADE, primary_key=True, related_name="ordering_settings")
    prep_minutes = models.PositiveSmallIntegerField(
        default=15, help_text="Minutes from an order to its handover; a dish may take longer"
    )
    slot_minutes = models.PositiveSmallIntegerField(
        default=DEFAULT_SLOT_MINUTES, help_text="Length of a slot of the capacity"
    )
    orders_per_slot = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Orders that the kitchen can finish in a slot; empty: any number"
    )
    warn_minutes = models.PositiveSmallIntegerField(
        default=10, help_text="Minutes after which an order is marked on the board"
    )
    late_minutes = models.PositiveSmallIntegerField(
        default=20, help_text="Minutes after which an order is marked as late on the board"
    )
    is_page_open = models.BooleanField(
        "ordering page", default=False, help_text="Guests can order on the ordering page"
    )
    page_fulfilments = ArrayField(
        models.CharField(max_length=8, choices=Fulfilment),
        default=list,
        blank=True,
        help_text="How orders of the ordering page reach the guest; empty: pick-up and at the table",
    )
    printer_address = models.GenericIPAddressField(
        "printer", null=True, blank=True, help_text="IP address of the ESC/POS printer for kitchen tickets"
    )
    printer_port = models.PositiveIntegerField(default=9100, db_default=9100)
    takes_usdc = models.BooleanField("USDC", default=False, help_text="Guests can pay on the ordering page in USDC")
    usdc_price = models.DecimalField(
        "price of one USDC",
        max_digits=14,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal("0.01"))],
        help_text="In the currency of the venue; it changes only here",
    )
    max_waiting_orders = models.PositiveSmallIntegerField(
        default=20,
        db_default=20,
        help_text="Orders of the ordering page that wait to be accepted, at most; then it takes no more",
    )
    # Since `paused_at` the page takes no orders: until `paused_until`, or until the staff continue.
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "ordering settings"
        constraints = [
            models.CheckConstraint(
                name="ordering_settings_prep_time_within_a_day", condition=Q(prep_minutes__lte=1440)
            ),
            models.CheckConstraint(
                name="ordering_settings_slot_divides_an_hour",
                condition=Q(slot_minutes__in=[5, 10, 15, 20, 30, 60]),
                violation_error_message=_("A slot is 5, 10, 15, 20, 30 or 60 minutes long."),
            ),
            models.CheckConstraint(
                name="ordering_settings_capacity_positive",
                condition=Q(orders_per_slot__isnull=True) | Q(orders_per_slot__gte=1),
            ),
            models.CheckConstraint(
                name="ordering_settings_warns_before_late",
                condition=Q(warn_minutes__gte=1, warn_minutes__lt=F("late_minutes")),
                violation_error_message=_("An order is marked before it is late."),
            ),
            models.CheckConstraint(
                name="ordering_settings_usdc_has_a_price",
                condition=Q(takes_usdc=False) | Q(usdc_price__isnull=False, usdc_price__gt=0),
                violation_error_message=_("State the price of one USDC."),
            ),
            # Only ports on which printers listen: no other service of the network can be named.
            models.CheckConstraint(
                name="ordering_settings_port_of_a_printer",
                condition=Q(printer_port__range=(9100, 9109)),
                violation_error_message=_("A printer's port is from 9100 to 9109."),
            ),
        ]

    def __str__(self) -> str:
        return f"Ordering settings of {self.venue}"

    def is_paused(self, *, now: datetime) -> bool:
        """Whether the staff have paused the ordering page."""
        return self.paused_at is not None and (self.paused_until is None or now < self.paused_until)

    @property
    def prep(self) -> timedelta:
        return timedelta(minutes=self.prep_minutes)


@track_history()
class ChargeRule(models.Model):
    """A charge that is added to orders: a fixed amount, or a percentage of the sum of the lines."""

    class Type(models.TextChoices):
        SERVICE_CHARGE = "service_charge", _("service charge")
        DELIVERY_FEE = "delivery_fee", _("delivery fee")
        PACKAGING_FEE = "packaging_fee", _("packaging fee")
        FEE = "fee", _("other fee")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="charge_rules")
    type = models.CharField(max_length=14, choices=Type)
    name = models.CharField(max_length=100, help_text="Shown to guests")
    percent = models.DecimalField(
        max_digits=6, decimal_places=3, null=True, blank=True, help_text="Of the sum of the lines; or an amount"
    )
    amount = models.DecimalField(
        max_digits=10, decimal_places=3, null=True, blank=True, help_text="In the venue's currency; or a percentage"
    )
    tax_percent = models.DecimalField(max_digits=6, decimal_places=3, default=Decimal(0))
    fulfilments = ArrayField(
        models.CharField(max_length=8, choices=Fulfilment), default=list, blank=True, help_text="Empty: all orders"
    )
    free_from = models.DecimalField(
        max_digits=10,
        decimal_places=3,
        null=True,
        blank=True,
        help_text="No charge from this sum of the lines on",
    )
    position = models.PositiveSmallIntegerField(default=0)
    translations = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="By language: {'da': {'name': ...}}"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["venue", "name"], name="charge_rule_name_unique_per_venue"),
            models.CheckConstraint(
                name="charge_rule_percent_or_amount",
                condition=Q(percent__isnull=False, percent__gt=0, percent__lte=100, amount__isnull=True)
                | Q(percent__isnull=True, amount__isnull=False, amount__gt=0),
                violation_error_message=_("Enter either a percentage up to 100 or an amount."),
            ),
            models.CheckConstraint(
                name="charge_rule_tax_from_0_to_100_percent", condition=Q(tax_percent__gte=0, tax_percent__lte=100)
            ),
            models.CheckConstraint(
                name="charge_rule_fulfilments_known", condition=Q(fulfilments__contained_by=Fulfilment.values)
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        translations.validate(self.translations, CHARGE_LENGTHS)
        currency = self.venue.currency if self.venue_id else ""
        errors = {name: find_decimals_error(getattr(self, name), currency) for name in ("amount", "free_from")}
        if errors := {name: message for name, message in errors.items() if message}:
            raise ValidationError(errors)


class OrderSlot(models.Model):
    """How many orders the kitchen has promised in a slot."""

    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="+", db_index=False)
    starts_at = models.DateTimeField()
    orders = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["venue", "starts_at"], name="order_slot_unique_per_venue")]

    def __str__(self) -> str:
        return f"{self.orders} at {self.starts_at}"
