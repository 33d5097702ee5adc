"""The ledger: payments, their state transitions and refunds, and its comparisons with the chain."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, DecimalRangeField
from django.db import models
from django.db.models import F, Func, Q

from framework.public_ids import PublicId, decode, new_id
from payments.models.choices import TIER_CHOICES, shorten_address

PREFIX = "pay"
# The reason of a refund that staff have decided not to send; the reason before follows it.
WRITTEN_OFF_REASON = "written_off"
WRITTEN_OFF = Q(error__startswith=f"{WRITTEN_OFF_REASON}: ")


class Payments(models.QuerySet["Payment"]):
    def of(self, payers: Collection[str]) -> Self:
        """Payments by these wallets; addresses are in lower case."""
        return self.filter(payer__in=payers)

    def known_as(self, public_id: str) -> Self:
        """The payment with this public id; none for a malformed id."""
        key = decode(PREFIX, public_id)
        return self.filter(pk=key) if key else self.none()

    def spendable(self, *, now: datetime) -> Self:
        """Payments that are refund due and may still be spent: their money has bought nothing yet."""
        return self.filter(Payment.still_spendable(now), state=Payment.State.REFUND_DUE)

    def refundable(self, *, now: datetime) -> Self:
        """Payments that are refund due, can be spent no more, and that the chain has shown."""
        return self.filter(~Payment.still_spendable(now), state=Payment.State.REFUND_DUE, block__isnull=False)

    def in_refund_queue(self, *, now: datetime) -> Self:
        """Refundable payments of REFUND_MIN_USDC or more that were not written off."""
        return self.refundable(now=now).filter(~WRITTEN_OFF, amount_usdc__gte=settings.REFUND_MIN_USDC)

    def too_small_to_refund(self, *, now: datetime) -> Self:
        """Refundable payments below REFUND_MIN_USDC that were not written off."""
        return self.refundable(now=now).filter(~WRITTEN_OFF, amount_usdc__lt=settings.REFUND_MIN_USDC)

    def written_off(self) -> Self:
        return self.filter(WRITTEN_OFF, state=Payment.State.REFUND_DUE)

    def refund_due_unconfirmed(self) -> Self:
        """Payments that are refund due and that the chain has not shown: the money may never have arrived."""
        return self.filter(state=Payment.State.REFUND_DUE, block__isnull=True)

    def with_open_request(self) -> Self:
        """Delivered payments whose payer asks for the money back, and waits for an answer."""
        return self.filter(state=Payment.State.DELIVERED, refund_requested_at__isnull=False, refund_declined_at=None)

    def undelivered(self, *, before: datetime) -> Self:
        """Payments that arrived up to this moment, that the chain has shown, and that were never delivered."""
        return self.filter(state=Payment.State.SETTLED, delivered_at=None, settled_at__lte=before, block__isnull=False)


class Payment(models.Model):
    """One proof of payment, and the one purchase that it pays for.

    The row is inserted before anything is settled. `proof_key` is `3009:{asset}:{payer}:{nonce}` or `tx:{hash}:{log}`;
    `purchase` is the SHA-256 of the request, or the public id of the order that is paid. Amounts are in whole USDC.
    """

    class Form(models.TextChoices):
        V2 = "v2", "x402 version 2"
        V1 = "v1", "x402 version 1"
        TX = "tx", "Transaction hash"

    class State(models.TextChoices):
        CLAIMED = "claimed", "Claimed: being settled"
        UNKNOWN = "unknown", "Unknown: sent, outcome not known"
        SETTLED = "settled", "Settled"
        DELIVERED = "delivered", "Delivered"
        EXPIRED = "expired", "Expired unsettled"
        REFUND_DUE = "refund_due", "Refund due"
        REFUNDED = "refunded", "Refunded"

    class Channel(models.TextChoices):
        REST = "rest", "REST"
        MCP = "mcp", "MCP"

    class RefundReason(models.TextChoices):
        GOODWILL = "goodwill", "Goodwill"
        FAILED_JOB = "failed_job", "Failed job"
        NOT_DELIVERED = "not_delivered", "Response not delivered"
        DEPOSIT_RETURNED = "deposit_returned", "Deposit returned"
        ORDER_CANCELLED = "order_cancelled", "Order cancelled"

    # States in which the money has arrived.
    PAID: ClassVar[tuple[str, ...]] = (State.SETTLED, State.DELIVERED, State.REFUND_DUE, State.REFUNDED)
    # States in which it is ours, and no refund is due.
    EARNED: ClassVar[tuple[str, ...]] = (State.SETTLED, State.DELIVERED)

    # The products of money that we hold for the venue where its payer has booked or ordered: no revenue of ours.
    DEPOSIT: ClassVar[str] = "deposit"
    ORDER: ClassVar[str] = "order"
    OF_VENUES: ClassVar[tuple[str, ...]] = (DEPOSIT, ORDER)

    # How long money that has bought nothing may be spent; after that it is refunded.
    SPENDABLE_FOR: ClassVar[timedelta] = timedelta(minutes=15)
    # How long an answer is served again: the server does not learn whether the first one has reached its payer.
    READABLE_FOR: ClassVar[timedelta] = timedelta(hours=24)
    # When so much time has passed since the delivery, it is repeated this often: one payment is no subscription.
    FREELY_REPEATED_FOR: ClassVar[timedelta] = timedelta(minutes=10)
    MAX_LATE_REPEATS: ClassVar[int] = 3
    # Reasons of refunds whose money may still be spent. Not money that was too old when it arrived, and not money that
    # has bought something before.
    SPENDABLE_REASONS: ClassVar[tuple[str, ...]] = (
        "wrong_amount",
        "tier_required",
        "anonymous_proof_too_large",
        "another_payer",
        "unproven_sender",
    )

    # Who has presented it first: `payments.identity.Caller.origin`. Its answer is repeated there.
    origin = models.CharField(
        max_length=32, blank=True, db_default="", default="", help_text="Hash of the presenter's address"
    )
    quote_digest = models.CharField(
        max_length=64,
        blank=True,
        db_default="",
        default="",
        help_text="SHA-256 of the secret of its 402",
    )
    late_repeats = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="How often the answer was repeated later than ten minutes after its delivery",
    )

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    form = models.CharField(max_length=2, choices=Form)
    state = models.CharField(max_length=20, choices=State)
    network = models.CharField(max_length=40, help_text="CAIP-2")
    asset = models.CharField(max_length=42)
    payer = models.CharField(max_length=42)
    # The account that the payer's wallet was linked to at the insert (payments/sql/set_payment_account.sql). It stays
    # when the wallet is unlinked: its spending limit counts the payment, and its invoice lists it.
    account_id = models.UUIDField("account", null=True, blank=True, editable=False)
    pay_to = models.CharField(max_length=42)
    # As many digits as a uint256 has, so that every amount that arrives can be recorded.
    amount_usdc = models.DecimalField("amount in USDC", max_digits=78, decimal_places=6)
    proof_key = models.CharField(max_length=200)
    signature_digest = models.CharField(
        "signature hash", max_length=64, blank=True, help_text="SHA-256 of the signed message and its signature"
    )
    payment_identifier = models.CharField(
        max_length=128, blank=True, help_text="The payer's identifier (x402 payment-identifier)"
    )
    purchase = models.CharField(max_length=64)
    method = models.CharField(max_length=10, default="GET", db_default="GET", help_text="HTTP method of the request")
    channel = models.CharField(
        max_length=4, choices=Channel, default=Channel.REST, db_default="rest", help_text="Channel of the request"
    )
    resource = models.TextField(help_text="The address of the request")
    products = ArrayField(models.CharField(max_length=40))
    tier = models.CharField(max_length=20, choices=TIER_CHOICES, help_text="The payer's tier at the time of payment")
    valid_before = models.DateTimeField(null=True, blank=True)
    tx_hash = models.CharField("transaction", max_length=66, null=True, blank=True)
    log_index = models.PositiveIntegerField(null=True, blank=True)
    block = models.BigIntegerField(null=True, blank=True)
    facilitator = models.CharField(max_length=200, blank=True)
    error = models.CharField(max_length=500, blank=True)
    rechecked_at = models.DateTimeField(
        null=True, blank=True, help_text="When the chain was last asked again about a payment that has ended"
    )
    attempts = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField(help_text="When a request last began to settle it")
    settled_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    refunded_at = models.DateTimeField(null=True, blank=True)
    refund_requested_at = models.DateTimeField(
        null=True, blank=True, help_text="When the payer asked for the money of a delivered answer back"
    )
    refund_request = models.CharField(
        max_length=500, blank=True, default="", db_default="", help_text="The payer's reason, in their words"
    )
    refund_declined_at = models.DateTimeField(
        null=True, blank=True, help_text="When staff declined to give the money back"
    )

    objects = Payments.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["network", "proof_key"], name="a_proof_pays_once"),
            models.UniqueConstraint(
                fields=["payer", "payment_identifier"],
                name="a_payment_identifier_names_one_payment_of_its_payer",
                condition=~Q(payment_identifier=""),
            ),
            models.CheckConstraint(
                name="payment_state_is_known",
                condition=Q(
                    state__in=["claimed", "unknown", "settled", "delivered", "expired", "refund_due", "refunded"]
                ),
            ),
            models.CheckConstraint(name="payment_is_positive", condition=Q(amount_usdc__gt=0)),
            models.CheckConstraint(
                name="money_that_arrived_has_its_transaction",
                condition=~Q(state__in=["settled", "delivered", "refund_due", "refunded"])
                | Q(tx_hash__isnull=False, settled_at__isnull=False),
            ),
            models.CheckConstraint(
                name="a_refund_request_has_a_moment_and_a_reason",
                condition=Q(refund_requested_at__isnull=True, refund_request="")
                | (Q(refund_requested_at__isnull=False) & ~Q(refund_request="")),
            ),
            models.CheckConstraint(
                name="only_a_refund_request_is_declined",
                condition=Q(refund_declined_at__isnull=True) | Q(refund_requested_at__isnull=False),
            ),
            models.CheckConstraint(
                name="a_refund_names_its_moment", condition=~Q(state="refunded") | Q(refunded_at__isnull=False)
            ),
        ]
        indexes = [
            models.Index(fields=["claimed_at"], condition=Q(state__in=["claimed", "unknown"]), name="payment_open"),
            models.Index(fields=["created_at"], condition=Q(state="expired"), name="payment_expired"),
            models.Index(
                fields=["settled_at"],
                condition=Q(state__in=["settled", "delivered", "refund_due", "refunded"], block__isnull=True),
                name="payment_unconfirmed",
            ),
            models.Index(
                fields=["settled_at"],
                condition=Q(state="settled", delivered_at__isnull=True),
                name="payment_undelivered",
            ),
            models.Index(fields=["payer", "-created_at"], name="payment_newest_of_payer"),
            models.Index(
                fields=["payer", "-created_at"],
                condition=Q(state__in=["claimed", "unknown", "settled", "expired", "refund_due", "refunded"]),
                name="payment_undelivered_of_payer",
            ),
            models.Index(fields=["settled_at"], condition=Q(state="refund_due"), name="payment_refund_due"),
            models.Index(fields=["settled_at", "id"], condition=Q(settled_at__isnull=False), name="payment_arrived"),
            models.Index(
                fields=["account_id", "created_at"], condition=Q(account_id__isnull=False), name="payment_of_account"
            ),
            models.Index(
                fields=["refund_requested_at"],
                condition=Q(state="delivered", refund_requested_at__isnull=False, refund_declined_at__isnull=True),
                name="payment_refund_requested",
            ),
            models.Index(fields=["tx_hash"], name="payment_by_transaction"),
            models.Index(fields=["block"], name="payment_by_block"),
        ]

    def __str__(self) -> str:
        return f"{self.amount_usdc.normalize():f} USDC by {shorten_address(self.payer)}"

    public_id = PublicId(PREFIX)

    @property
    def readable_until(self) -> datetime | None:
        """When the answer that the payment bought stops being served; None if it buys no answer."""
        if self.state not in (Payment.State.SETTLED, Payment.State.DELIVERED) or self.settled_at is None:
            return None
        return self.settled_at + self.READABLE_FOR

    @classmethod
    def still_spendable(cls, now: datetime) -> Q:
        """The condition under which money that is refund due may still be spent."""
        return Q(settled_at__gt=now - cls.SPENDABLE_FOR, error__in=cls.SPENDABLE_REASONS, delivered_at=None)

    def is_refundable(self, now: datetime) -> bool:
        """Whether the payment is refundable, as in Payments.refundable."""
        if self.state != Payment.State.REFUND_DUE or self.settled_at is None or self.block is None:
            return False
        return (
            self.settled_at <= now - self.SPENDABLE_FOR
            or self.error not in self.SPENDABLE_REASONS
            or self.delivered_at is not None
        )


class PaymentEvent(models.Model):
    """One transition of a payment, written by a trigger in the same transaction and never changed.

    `before` is empty for an insert, `after` for a claim that was released because nothing was sent: only the events of
    such a payment remain. See payments/sql/insert_payment_event.sql.
    """

    payment = models.ForeignKey(
        Payment, on_delete=models.DO_NOTHING, db_constraint=False, related_name="events", db_index=False
    )
    at = models.DateTimeField()
    before = models.CharField(max_length=20, blank=True)
    after = models.CharField(max_length=20, blank=True)
    attempt = models.PositiveIntegerField()
    payer = models.CharField(max_length=42)
    amount_usdc = models.DecimalField("amount in USDC", max_digits=78, decimal_places=6)
    tx_hash = models.CharField("transaction", max_length=66, blank=True)
    error = models.CharField(max_length=500, blank=True)
    actor = models.CharField(max_length=80, help_text="The system, or the member of staff")

    class Meta:
        indexes = [
            models.Index(fields=["payment", "id"], name="event_of_payment"),
            models.Index(fields=["payer", "id"], name="event_of_payer"),
            models.Index(fields=["at"], name="payment_event_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.before or 'new'} to {self.after or 'deleted'}"


class Refund(models.Model):
    """The refund of a payment: recorded by staff, then confirmed by the chain.

    One transaction may refund several payments of a payer: each refund claims its own part of the amount that the
    transaction moves to them, beginning at `offset_usdc`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    payment = models.OneToOneField(Payment, on_delete=models.PROTECT, related_name="refund")
    amount_usdc = models.DecimalField("amount in USDC", max_digits=78, decimal_places=6)
    to = models.CharField(max_length=42, help_text="The payer")
    tx_hash = models.CharField("transaction", max_length=66)
    offset_usdc = models.DecimalField(
        "offset, in USDC",
        max_digits=78,
        decimal_places=6,
        default=0,
        help_text="What other refunds claim of the same transaction and payer",
    )
    moved_usdc = models.DecimalField(
        "moved, in USDC",
        max_digits=78,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="What the chain shows that the transaction has moved to the payer",
    )
    senders = ArrayField(
        models.CharField(max_length=42),
        default=list,
        blank=True,
        help_text="Senders of the USDC, as shown on the chain",
    )
    by = models.CharField(max_length=80, help_text="User who recorded the refund")
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True, help_text="When it was confirmed on the chain")
    error = models.CharField(max_length=500, blank=True, help_text="What the chain shows instead")

    class Meta:
        constraints = [
            models.CheckConstraint(name="refund_is_positive", condition=Q(amount_usdc__gt=0)),
            models.CheckConstraint(name="refund_names_a_transaction", condition=Q(tx_hash__regex="^0x[0-9a-f]{64}$")),
            models.CheckConstraint(
                name="refunds_claim_no_more_than_was_moved",
                condition=Q(offset_usdc__gte=0)
                & (Q(moved_usdc=None) | Q(moved_usdc__gte=F("offset_usdc") + F("amount_usdc"))),
            ),
            models.CheckConstraint(
                name="a_confirmed_refund_was_moved", condition=Q(confirmed_at=None) | Q(moved_usdc__isnull=False)
            ),
            ExclusionConstraint(
                name="nothing_that_was_moved_is_claimed_twice",
                expressions=[
                    ("tx_hash", "="),
                    ("to", "="),
                    (
                        Func(
                            "offset_usdc",
                            F("offset_usdc") + F("amount_usdc"),
                            function="NUMRANGE",
                            output_field=DecimalRangeField(),
                        ),
                        "&&",
                    ),
                ],
            ),
        ]
        indexes = [
            models.Index(fields=["tx_hash"], name="refund_by_transaction"),
            models.Index(fields=["created_at"], condition=Q(confirmed_at=None), name="refund_unconfirmed"),
        ]

    def __str__(self) -> str:
        return f"{self.amount_usdc.normalize():f} USDC to {shorten_address(self.to)}"


class Revenue(Payment):
    """A proxy of Payment, so that the report has its own entry in the back office."""

    class Meta:
        proxy = True
        verbose_name = "revenue"
        verbose_name_plural = "revenue"
        # The permission to view payments includes the report.
        default_permissions = ()


class Receiver(models.Model):
    """An address at which we take or have taken payments: PAY_TO, and the ones before it."""

    network = models.CharField(max_length=40, help_text="CAIP-2")
    address = models.CharField(max_length=42)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["network", "address"], name="a_receiver_is_stored_once")]

    def __str__(self) -> str:
        return self.address


class Audit(models.Model):
    """One comparison of the transfers to our address with the ledger, over a span of blocks.

    The next audit begins after `last_block`. An audit counts only once it has ended (`ended_at`).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    network = models.CharField(max_length=40, help_text="CAIP-2")
    pay_to = models.CharField(max_length=42)
    first_block = models.BigIntegerField()
    last_block = models.BigIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    transfers = models.PositiveIntegerField(default=0, help_text="Transfers in these blocks")
    arrived_usdc = models.DecimalField("arrived, in USDC", max_digits=78, decimal_places=6, default=0)
    ledger_usdc = models.DecimalField("in the ledger, in USDC", max_digits=78, decimal_places=6, default=0)
    orphans = models.PositiveIntegerField(default=0, help_text="Unmatched transfers: refund due")
    differences = ArrayField(
        models.CharField(max_length=300), default=list, blank=True, help_text="Differences between ledger and chain"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(name="audit_spans_blocks", condition=Q(last_block__gte=F("first_block"))),
            models.UniqueConstraint(
                fields=["network", "pay_to", "first_block"], name="a_block_is_audited_once_for_an_address"
            ),
        ]

    def __str__(self) -> str:
        return f"Blocks {self.first_block} to {self.last_block}"
