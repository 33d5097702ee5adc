"""Orders of a venue."""

from collections.abc import Collection
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Case, F, Func, Q, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Venue
from framework.errors import ApiError, ErrorCode, InvalidRequest
from framework.public_ids import PublicId, decode, new_id
from orders.models.settings import Fulfilment

PREFIX = "ord"


class InvalidTransition(ApiError):
    """The order has a final status, which is not the requested one."""

    code = ErrorCode.INVALID_TRANSITION


class VersionConflict(ApiError):
    """The order or the menu has another version than the caller expects."""

    code = ErrorCode.VERSION_CONFLICT


def lines_in_order() -> models.Prefetch[Any]:
    """Return the prefetch of an order's lines in their order."""
    return models.Prefetch("items", OrderItem.objects.order_by("position"))


class Orders(models.QuerySet["Order"]):
    def of(self, venue: Venue) -> Self:
        return self.filter(venue=venue)

    def with_items(self) -> Self:
        """Prefetch the lines: one more query."""
        return self.prefetch_related(lines_in_order())

    def newest_first(self) -> Self:
        """Order by the time of creation, then by the UUIDv7 id."""
        return self.order_by("-created_at", "-id")

    def with_due_at(self, prep: timedelta) -> Self:
        """Annotate `due_at`, when the order has to be ready: as promised, or as requested, or `prep` after it came."""
        return self.annotate(due_at=Coalesce("promised_at", "requested_at", F("created_at") + prep))

    def of_stage(self, stage: str) -> Self:
        """Filter to the orders whose record has this stage."""
        if stage == Order.Stage.HANDED_OVER:
            return self.filter(status=Order.Status.COMPLETED)
        # Not `exclude`: it could not use the index of the status.
        return self.filter(status__in=[Order.Status.PENDING, Order.Status.CANCELLED], kitchen_stage=stage)

    def with_public_id(self, public_id: str) -> Self:
        """Filter to the order with this public id; none if it is malformed."""
        key = decode(PREFIX, public_id)
        return self.filter(pk=key) if key else self.none()


class Order(models.Model):
    """An order of a venue."""

    class Status(models.TextChoices):
        PENDING = "pending"
        COMPLETED = "completed"
        CANCELLED = "cancelled"

    class Stage(models.TextChoices):
        """How far the kitchen is, in order. A handed-over order is completed, and no other is."""

        RECEIVED = "received", gettext_lazy("Received")
        ACCEPTED = "accepted", gettext_lazy("Accepted")
        PREPARING = "preparing", gettext_lazy("Preparing")
        READY = "ready", gettext_lazy("Ready")
        HANDED_OVER = "handed_over", gettext_lazy("Handed over")

    class PaymentState(models.TextChoices):
        """The state of a payment in USDC. Empty: the order is paid at the counter, or elsewhere."""

        DUE = "due"
        PAID = "paid"
        REFUND_DUE = "refund_due"
        REFUNDED = "refunded"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.PROTECT, related_name="orders", db_index=False)
    number = models.PositiveIntegerField(help_text="Number for the counter; starts at 1 each business day")
    business_date = models.DateField(help_text="The date in the venue's time zone")
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    kitchen_stage = models.CharField(
        max_length=9,
        # Without `handed_over`, which is the completion.
        choices=Stage.choices[:-1],
        default=Stage.RECEIVED,
        db_default=Stage.RECEIVED,
        help_text="The last stage before it was handed over or cancelled",
    )
    customer_id = models.CharField(max_length=64)
    delivery_address = models.CharField(max_length=500, null=True, blank=True, help_text="Empty: pick-up")
    is_dine_in = models.BooleanField(default=False, db_default=False, help_text="Served at the venue")
    table = models.CharField(max_length=40, blank=True, default="", db_default="", help_text="Where it is served")
    contact_name = models.CharField(max_length=200, blank=True, default="", db_default="")
    contact_phone = models.CharField(max_length=16, blank=True, default="", db_default="")
    contact_email = models.CharField(max_length=254, blank=True, default="", db_default="")
    requested_at = models.DateTimeField(null=True, blank=True, help_text="When the guest wants it")
    promised_at = models.DateTimeField(null=True, blank=True, help_text="When the venue expects to hand it over")
    slot = models.DateTimeField(null=True, blank=True, help_text="The slot of the capacity that it takes")
    portions = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="Portions of counted dishes to give back, by their keys"
    )
    channel = models.CharField(max_length=40, null=True, blank=True, help_text="Where it was placed: a label")
    payment_method = models.CharField(max_length=40)
    currency = models.CharField(max_length=3)
    subtotal = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)
    tax = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)
    charges = models.JSONField(
        default=list, db_default=[], blank=True, help_text="[{type, name, amount}], priced by the rules of the venue"
    )
    tip = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)
    total = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)
    usdc_amount = models.DecimalField(
        "amount in USDC",
        max_digits=18,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="What it costs the guest in USDC; empty where it cannot be paid so",
    )
    payment_state = models.CharField(max_length=10, choices=PaymentState, blank=True, default="", db_default="")
    # No foreign key: orders know nothing of payments.
    usdc_payment = models.UUIDField(
        "payment", null=True, blank=True, help_text="The payment of the ledger that has paid it"
    )
    metadata = models.JSONField(default=dict, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    # The moment of each stage; null if it was skipped.
    accepted_at = models.DateTimeField(null=True, blank=True)
    preparing_at = models.DateTimeField(null=True, blank=True)
    ready_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)
    cancelled_because = models.CharField(
        max_length=300, blank=True, default="", db_default="", help_text="Visible to the venue's team only"
    )

    ticket_printed_at = models.DateTimeField(null=True, blank=True, help_text="By the printer of the venue")
    ticket_claims = ArrayField(
        models.CharField(max_length=40),
        default=list,
        db_default=[],
        blank=True,
        help_text="Stations whose board has printed its ticket; empty text: the whole board",
    )
    # Only on orders of Orders.with_due_at
    due_at: datetime

    objects = Orders.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["venue", "business_date", "number"], name="order_number_unique_per_venue_and_day"
            ),
            models.CheckConstraint(
                name="order_times_match_status",
                condition=Q(status="pending", completed_at__isnull=True, cancelled_at__isnull=True)
                | Q(status="completed", completed_at__isnull=False, cancelled_at__isnull=True)
                | Q(status="cancelled", completed_at__isnull=True, cancelled_at__isnull=False),
            ),
            models.CheckConstraint(
                name="order_cancellation_reason_only_if_cancelled",
                condition=Q(status="cancelled") | Q(cancelled_because=""),
            ),
            models.CheckConstraint(
                name="order_is_served_at_the_venue_or_delivered",
                condition=Q(is_dine_in=False, table="") | Q(is_dine_in=True, delivery_address__isnull=True),
            ),
            models.CheckConstraint(name="order_tip_not_negative", condition=Q(tip__isnull=True) | Q(tip__gte=0)),
            models.CheckConstraint(
                name="order_payment_state_matches_payment",
                condition=Q(payment_state="", usdc_payment__isnull=True)
                | Q(payment_state="due", usdc_amount__isnull=False, usdc_payment__isnull=True)
                | Q(
                    payment_state__in=["paid", "refund_due", "refunded"],
                    usdc_amount__isnull=False,
                    usdc_payment__isnull=False,
                ),
            ),
            models.UniqueConstraint(
                fields=["usdc_payment"],
                name="a_payment_pays_one_order",
                condition=Q(usdc_payment__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["venue", "-created_at", "-id"], name="order_newest_of_venue"),
            models.Index(fields=["venue", "status", "-created_at", "-id"], name="order_newest_of_status"),
            models.Index(fields=["venue", "updated_at"], name="order_last_updated"),
            models.Index(fields=["venue", "customer_id", "-created_at", "-id"], name="order_newest_of_customer"),
            # For the retention of contacts.
            models.Index(
                fields=["created_at"],
                name="order_with_contact",
                condition=~Q(contact_name="", contact_phone="", contact_email=""),
            ),
            # For the board's orders of today. New orders are in neither index.
            models.Index(
                fields=["venue", "-completed_at", "-id"],
                name="order_last_completed",
                condition=Q(completed_at__isnull=False),
            ),
            models.Index(fields=["updated_at"], name="order_refund_due", condition=Q(payment_state="refund_due")),
            models.Index(
                fields=["venue", "-cancelled_at", "-id"],
                name="order_last_cancelled",
                condition=Q(cancelled_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.number} of {self.business_date}"

    public_id = PublicId(PREFIX)

    @property
    def stage(self) -> str:
        """How far the kitchen is. No row stores `handed_over`: it is the completion."""
        return self.Stage.HANDED_OVER if self.status == self.Status.COMPLETED else self.kitchen_stage

    @property
    def fulfilment(self) -> str:
        """How the order reaches the guest: `delivery` has an address."""
        if self.is_dine_in:
            return Fulfilment.DINE_IN
        return Fulfilment.PICKUP if self.delivery_address is None else Fulfilment.DELIVERY

    @property
    def former_stage(self) -> str | None:
        """The stage that it had before the one of the kitchen; None if it is received."""
        before = KITCHEN_STAGES[: KITCHEN_STAGES.index(self.kitchen_stage)]
        reached = [stage for stage in before if stage == self.Stage.RECEIVED or getattr(self, f"{stage}_at")]
        return reached[-1] if reached else None

    def refresh(self) -> None:
        """Read all that can change, so that a record never has the version of one change and the fields of another.

        Keeps the fetched lines and venue, which refresh_from_db without fields would drop.
        """
        self.refresh_from_db(fields=MUTABLE_FIELDS)

    def change_status(
        self,
        status: str,
        *,
        now: datetime,
        versions: Collection[int] | None = None,
        because: str = "",
        param: str = "status",
    ) -> bool:
        """Change a pending order to `status`; return whether that changed it. The current status changes nothing.

        Called by orders.commands.change_status, which stores the event too. One conditional UPDATE, so of two
        concurrent changes exactly one succeeds. `versions` are the accepted versions, None for any; `because` is the
        reason of a cancellation, visible to the venue's team only; `param` is the field that the error names. Raises
        VersionConflict for another version, InvalidTransition if the order is not pending.
        """
        changed = 0
        # Nothing of a completed order can be given back, also after it was reopened.
        others: dict[str, Any] = {"portions": {}}
        if status == self.Status.CANCELLED:
            others = {"payment_state": PAYMENT_STATE_AFTER_CANCELLATION}
        if status != self.Status.PENDING:
            order = Order.objects.filter(pk=self.pk, status=self.Status.PENDING)
            changed = (order if versions is None else order.filter(version__in=versions)).update(
                status=status,
                version=F("version") + 1,
                updated_at=now,
                cancelled_because=because,
                **{f"{status}_at": now},
                **others,
            )
        self.refresh()
        if not changed and versions is not None and self.version not in versions:
            raise VersionConflict(f"This order has version {self.version}.")
        if not changed and self.status != status:
            raise InvalidTransition(f"This order is {self.status}, which is final.", param=param)
        return bool(changed)

    def change_stage(
        self, stage: str, *, now: datetime, versions: Collection[int] | None = None, moves_back: bool = False
    ) -> bool:
        """Move a pending order to a stage of the kitchen; return whether that changed it.

        Called by orders.commands.change_stage, which stores the event too. A stage goes back only with `moves_back`,
        for the staff; then the moments of the later stages are removed. One conditional UPDATE, so of two concurrent
        moves to one stage exactly one succeeds. Raises VersionConflict, InvalidTransition.
        """
        nth = KITCHEN_STAGES.index(stage)
        before, after = KITCHEN_STAGES[:nth], KITCHEN_STAGES[nth + 1 :]
        moments: dict[str, datetime | None] = {f"{each}_at": None for each in after if moves_back}
        if before and not moves_back:
            moments[f"{stage}_at"] = now
        orders = Order.objects.filter(
            pk=self.pk, status=self.Status.PENDING, kitchen_stage__in=after if moves_back else before
        )
        changed = (orders if versions is None else orders.filter(version__in=versions)).update(
            kitchen_stage=stage, version=F("version") + 1, updated_at=now, **moments
        )
        self.refresh()
        if changed:
            return True
        if versions is not None and self.version not in versions:
            raise VersionConflict(f"This order has version {self.version}.")
        if self.status != self.Status.PENDING:
            raise InvalidTransition(f"This order is {self.status}, which is final.", param="stage")
        if self.kitchen_stage != stage:
            raise InvalidTransition(
                f"This order is {self.kitchen_stage} already, and a stage never goes back.", param="stage"
            )
        return False

    def change_payment_state(self, state: str, *, before: str, now: datetime, payment: UUID | None = None) -> bool:
        """Change the state of the payment from `before`, with the `payment` that has paid; return whether it was so.

        Called by orders.commands, which stores the event too. One conditional UPDATE. Only a pending order is paid.
        """
        orders = Order.objects.filter(pk=self.pk, payment_state=before)
        if payment is not None:
            orders = orders.filter(status=self.Status.PENDING)
        changed = orders.update(
            payment_state=state,
            usdc_payment=payment or F("usdc_payment"),
            version=F("version") + 1,
            updated_at=now,
        )
        self.refresh()
        return bool(changed)

    def reopen(self, *, now: datetime) -> None:
        """Make a completed order pending. Called by orders.commands.reopen_order, which stores the event too.

        One conditional UPDATE. Raises InvalidTransition if the order is not completed.
        """
        reopened = Order.objects.filter(pk=self.pk, status=self.Status.COMPLETED).update(
            status=self.Status.PENDING, completed_at=None, version=F("version") + 1, updated_at=now
        )
        self.refresh()
        if not reopened:
            raise InvalidTransition(
                f"This order is {self.status}; only a completed order can be reopened.", param="status"
            )

    def claim_ticket(self, station: str) -> bool:
        """Return whether the caller is the first who prints the ticket for the board of this station.

        One conditional UPDATE, so of concurrent callers exactly one is. The version stays: the order has not changed.
        """
        unclaimed = Order.objects.filter(pk=self.pk).exclude(ticket_claims__contains=[station])
        claims = Func(F("ticket_claims"), Value(station), function="array_append")
        return bool(unclaimed.update(ticket_claims=claims))

    def change_delivery_address(self, address: str | None, *, now: datetime) -> None:
        """Change the delivery address, None for pick-up, and no other column.

        Called by orders.commands.change_delivery_address, which stores the event too. Raises InvalidRequest for an
        order that is served at the venue.
        """
        changed = Order.objects.filter(pk=self.pk, is_dine_in=False).update(
            delivery_address=address, version=F("version") + 1, updated_at=now
        )
        self.refresh()
        if not changed:
            raise InvalidRequest(_("This order is served at a table."), param="delivery_address")


# What was paid goes back; what was not is not paid any more.
PAYMENT_STATE_AFTER_CANCELLATION = Case(
    When(payment_state=Order.PaymentState.PAID, then=Value(Order.PaymentState.REFUND_DUE)),
    When(payment_state=Order.PaymentState.DUE, then=Value("")),
    default=F("payment_state"),
)
# Tips are the staff's.
TOTAL_WITHOUT_TIP = F("total") - Coalesce(F("tip"), Decimal(0))
# In order; each but the first has a column with its moment.
KITCHEN_STAGES = tuple(Order.Stage.values[:-1])
STAGE_MOMENTS = tuple(f"{stage}_at" for stage in KITCHEN_STAGES[1:])
MUTABLE_FIELDS = (
    *("status", "kitchen_stage", "delivery_address", "contact_name", "contact_phone", "contact_email", "portions"),
    *("payment_state", "usdc_payment", "version", "updated_at"),
    *(*STAGE_MOMENTS, "completed_at", "cancelled_at", "cancelled_because"),
)


class OrderItem(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="items", db_index=False)
    position = models.PositiveSmallIntegerField()
    menu_item_id = models.CharField(max_length=64)
    name = models.CharField(max_length=200, null=True, blank=True)
    quantity = models.PositiveIntegerField()
    notes = models.CharField(max_length=500, blank=True, default="")
    modifiers = models.JSONField(
        default=list, db_default=[], blank=True, help_text="[{id, name, price, modifiers}], in the unit price"
    )
    station = models.CharField(max_length=40, blank=True, default="", db_default="")
    unit_price = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)
    tax_percent = models.DecimalField(max_digits=6, decimal_places=3, null=True, blank=True)
    line_total = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["order", "position"], name="order_item_position_unique_per_order"),
            models.CheckConstraint(name="order_item_quantity_in_1_to_999", condition=Q(quantity__range=(1, 999))),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} x {self.menu_item_id}"

    @property
    def all_modifiers(self) -> list[dict[str, Any]]:
        """The modifiers, each before those that are nested in it."""
        return [each for modifier in self.modifiers for each in (modifier, *modifier["modifiers"])]

    @property
    def modifier_names(self) -> list[str]:
        """The names of all modifiers."""
        return [each["name"] or each["id"] for each in self.all_modifiers]

    @property
    def currency(self) -> str:
        """The currency of the order. No query if the line was fetched with its order."""
        return self.order.currency


class OrderNumber(models.Model):
    """The last order number of a venue's business day; orders.commands.place_order increments it."""

    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="+", db_index=False)
    business_date = models.DateField()
    last = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["venue", "business_date"], name="order_number_counter_unique_per_venue_and_day"
            )
        ]

    def __str__(self) -> str:
        return f"{self.last} on {self.business_date}"
