"""Orders of a venue."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Self

from django.db import models
from django.db.models import F, Q

from accounts.models import Venue
from framework.errors import ApiError, ErrorCode
from framework.public_ids import decode, encode, new_id

PREFIX = "ord"


class IllegalMove(ApiError):
    """The order has reached a final status, and that is not the one asked for."""

    code = ErrorCode.INVALID_TRANSITION


class VersionConflict(ApiError):
    """The order is not of the version that the caller has seen."""

    code = ErrorCode.VERSION_CONFLICT


def lines_in_order() -> models.Prefetch[Any]:
    """The lines of orders as they were ordered, for prefetch_related."""
    return models.Prefetch("items", OrderItem.objects.order_by("position"))


class Orders(models.QuerySet["Order"]):
    """Questions to the orders."""

    def of(self, venue: Venue) -> Self:
        """Keep the orders of one venue."""
        return self.filter(venue=venue)

    def with_items(self) -> Self:
        """Fetch the lines too, in one more query for all orders."""
        return self.prefetch_related(lines_in_order())

    def newest_first(self) -> Self:
        """Order by the moment of creation, which UUIDv7 keys are ordered by too."""
        return self.order_by("-created_at", "-id")

    def waiting(self) -> Self:
        """Keep those that are to be made, the oldest first."""
        return self.filter(status=Order.Status.PENDING).order_by("created_at", "id")

    def completed_since(self, moment: datetime) -> Self:
        """Keep those that were completed then or later, the last first."""
        return self.filter(completed_at__gte=moment).order_by("-completed_at", "-id")

    def cancelled_since(self, moment: datetime) -> Self:
        """Keep those that were cancelled then or later, the last first."""
        return self.filter(cancelled_at__gte=moment).order_by("-cancelled_at", "-id")

    def known_as(self, public_id: str) -> Self:
        """Keep the order of this public id; none for an id that is malformed."""
        key = decode(PREFIX, public_id)
        return self.filter(pk=key) if key else self.none()


class Order(models.Model):
    """What a customer of a venue wants to eat, and what has become of it."""

    class Status(models.TextChoices):
        PENDING = "pending"
        COMPLETED = "completed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.PROTECT, related_name="orders", db_index=False)
    number = models.PositiveIntegerField(help_text="Number for the counter; starts at 1 each business day")
    business_date = models.DateField(help_text="The date in the venue's time zone")
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    customer_id = models.CharField(max_length=64)
    delivery_address = models.CharField(max_length=500, null=True, blank=True, help_text="Empty: pick-up")
    payment_method = models.CharField(max_length=40)
    currency = models.CharField(max_length=3)
    subtotal = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)
    tax = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)
    total = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)
    cancelled_because = models.CharField(
        max_length=300, blank=True, default="", db_default="", help_text="Visible to the venue's team only"
    )

    objects = Orders.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["venue", "business_date", "number"], name="order_number_once_a_day"),
            models.CheckConstraint(
                name="order_moments_tell_its_status",
                condition=Q(status="pending", completed_at__isnull=True, cancelled_at__isnull=True)
                | Q(status="completed", completed_at__isnull=False, cancelled_at__isnull=True)
                | Q(status="cancelled", completed_at__isnull=True, cancelled_at__isnull=False),
            ),
            models.CheckConstraint(
                name="order_tells_why_it_is_cancelled_only_then",
                condition=Q(status="cancelled") | Q(cancelled_because=""),
            ),
        ]
        indexes = [
            models.Index(fields=["venue", "-created_at", "-id"], name="order_newest_of_venue"),
            models.Index(fields=["venue", "status", "-created_at", "-id"], name="order_newest_of_status"),
            # The board asks for those of today; an order that is placed touches neither.
            models.Index(
                fields=["venue", "-completed_at", "-id"],
                name="order_last_completed",
                condition=Q(completed_at__isnull=False),
            ),
            models.Index(
                fields=["venue", "-cancelled_at", "-id"],
                name="order_last_cancelled",
                condition=Q(cancelled_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.number} of {self.business_date}"

    @property
    def public_id(self) -> str:
        """`ord_` and 26 letters."""
        return encode(PREFIX, self.pk)

    def move_to(
        self, status: str, *, now: datetime, versions: Collection[int] | None = None, because: str = ""
    ) -> bool:
        """Leave `pending` for `status`, and say whether that changed it; to stay where it is changes nothing.

        Orders are moved by orders.commands.move, which writes the event too.

        One conditional UPDATE, so of two concurrent moves exactly one wins. `versions` are those that the order may
        have, None for any; `because` is why it is cancelled, which the venue's people alone see. Raises
        VersionConflict when it has another, IllegalMove when it is not pending any more.
        """
        moved = 0
        if status != self.Status.PENDING:
            order = Order.objects.filter(pk=self.pk, status=self.Status.PENDING)
            moved = (order if versions is None else order.filter(version__in=versions)).update(
                status=status,
                version=F("version") + 1,
                updated_at=now,
                cancelled_because=because,
                **{f"{status}_at": now},
            )
        self.refresh_from_db(
            fields=["status", "version", "updated_at", "completed_at", "cancelled_at", "cancelled_because"]
        )
        if not moved and versions is not None and self.version not in versions:
            raise VersionConflict(f"This order is of version {self.version}.")
        if not moved and self.status != status:
            raise IllegalMove(f"This order is {self.status}, which is final.", param="status")
        return bool(moved)

    def reopen(self, *, now: datetime) -> None:
        """Take a completion back. Orders are reopened by orders.commands.reopen, which writes the event too.

        One conditional UPDATE. Raises IllegalMove when the order is not completed: what is cancelled stays so.
        """
        reopened = Order.objects.filter(pk=self.pk, status=self.Status.COMPLETED).update(
            status=self.Status.PENDING, completed_at=None, version=F("version") + 1, updated_at=now
        )
        self.refresh_from_db(fields=["status", "version", "updated_at", "completed_at", "cancelled_at"])
        if not reopened:
            raise IllegalMove(f"This order is {self.status}; only a completed one is reopened.", param="status")

    def deliver_to(self, address: str | None, *, now: datetime) -> None:
        """Change where the order goes, None for pick-up; what else has changed meanwhile stays as it is.

        Called by orders.commands.deliver_to, which writes the event too.
        """
        Order.objects.filter(pk=self.pk).update(delivery_address=address, version=F("version") + 1, updated_at=now)
        self.refresh_from_db(fields=["delivery_address", "version", "updated_at"])


class OrderItem(models.Model):
    """A line of an order."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="items", db_index=False)
    position = models.PositiveSmallIntegerField()
    menu_item_id = models.CharField(max_length=64)
    name = models.CharField(max_length=200, null=True, blank=True)
    quantity = models.PositiveIntegerField()
    notes = models.CharField(max_length=500, blank=True, default="")
    unit_price = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)
    tax_percent = models.DecimalField(max_digits=6, decimal_places=3, null=True, blank=True)
    line_total = models.DecimalField(max_digits=18, decimal_places=3, null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["order", "position"], name="order_has_a_line_at_a_position_once"),
            models.CheckConstraint(name="order_item_quantity_in_1_to_999", condition=Q(quantity__range=(1, 999))),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} x {self.menu_item_id}"

    @property
    def currency(self) -> str:
        """That of the order. No query for a line that was fetched with its order."""
        return self.order.currency


class OrderNumber(models.Model):
    """The last number that was given on a business day of a venue; orders.commands.place counts it up."""

    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="+", db_index=False)
    business_date = models.DateField()
    last = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["venue", "business_date"], name="one_count_per_venue_and_day")]

    def __str__(self) -> str:
        return f"{self.last} on {self.business_date}"
