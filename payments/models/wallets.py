"""Wallets, their sessions and holdings, and the plans that staff have agreed on with their owners."""

from datetime import UTC, datetime
from typing import Self

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeBoundary, RangeOperators
from django.db import connection, models
from django.db.models import Exists, F, FilteredRelation, Func, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from accounts.models import Account
from framework.public_ids import new_id
from payments.models.billing import Billing
from payments.models.choices import TIER_CHOICES, shorten_address
from payments.tiers.definitions import PRIORITIES, TIERS

EARLIEST = datetime.min.replace(tzinfo=UTC)


class Wallets(models.QuerySet["Wallet"]):
    def with_plan(self, now: datetime) -> Self:
        """Load each wallet with its current plan, `own_plan`, and that of its account, `account_plan`. Three joins.

        A wallet and an account have at most one current plan each. `limited_account` is the billing of an account with
        a spending limit.
        """
        has_limit = Q(account__billing__monthly_limit_usdc__isnull=False)
        relations = {
            "own_plan": _current_plan("plans", now),
            "account_plan": _current_plan("account__plans", now),
            "limited_account": FilteredRelation("account__billing", condition=has_limit),
        }
        return self.annotate(**relations).select_related(*relations)


def _current_plan(plans: str, now: datetime) -> FilteredRelation:
    ends = Q(**{f"{plans}__valid_until": None}) | Q(**{f"{plans}__valid_until__gt": now})
    return FilteredRelation(plans, condition=ends & Q(**{f"{plans}__valid_from__lte": now}))


class Wallet(models.Model):
    """An address that was proven or has paid, and its holdings at the last reading of the chain."""

    address = models.CharField(primary_key=True, max_length=42, help_text="In lower case")
    account = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, blank=True, related_name="wallets")
    tier = models.CharField(max_length=20, choices=TIER_CHOICES, default="free")
    holdings_usd = models.DecimalField("holdings in USD", max_digits=30, decimal_places=6, default=0)
    staked = models.DecimalField("staked, in whole tokens", max_digits=60, decimal_places=18, default=0)
    read_at = models.DateTimeField("read from the chain at", null=True, blank=True)
    read_block = models.BigIntegerField(
        null=True, blank=True, help_text="The latest block then: the next reading includes all transfers since"
    )
    pending_tier = models.CharField(
        max_length=20,
        choices=TIER_CHOICES,
        blank=True,
        help_text="The tier that the holding qualifies for after the waiting time",
    )
    pending_tier_at = models.DateTimeField(
        null=True, blank=True, help_text="End of the waiting time, if the holding remains"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = Wallets.as_manager()

    # Set by with_plan() and payments.identity.sessions.
    own_plan: "Plan | None" = None
    account_plan: "Plan | None" = None
    # Set by with_plan().
    limited_account: Billing | None = None
    session: "WalletSession"

    class Meta:
        constraints = [
            models.CheckConstraint(name="wallet_address_is_valid", condition=Q(address__regex="^0x[0-9a-f]{40}$")),
            models.CheckConstraint(name="wallet_of_a_known_tier", condition=Q(tier__in=list(TIERS))),
        ]

    def __str__(self) -> str:
        return self.address


class WalletSession(models.Model):
    """A session of a wallet that has signed our challenge. Only the digest of its token is stored."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    wallet = models.ForeignKey(Wallet, on_delete=models.CASCADE, related_name="sessions")
    nonce = models.CharField(max_length=64, help_text="Of the signed challenge, which is valid once")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["nonce"], name="a_challenge_opens_one_session")]

    def __str__(self) -> str:
        return f"{shorten_address(self.wallet_id)} until {self.expires_at:%Y-%m-%d %H:%M}"


class HoldingSnapshots(models.QuerySet["HoldingSnapshot"]):
    def in_effect_since(self, moment: datetime, *, address: str) -> Self:
        """Snapshots of a wallet from the one that was the latest at this moment on, the oldest first."""
        snapshots = self.filter(wallet=address)
        latest = snapshots.filter(read_at__lte=moment).order_by("-read_at").values("read_at")[:1]
        return snapshots.filter(read_at__gte=Coalesce(Subquery(latest), EARLIEST)).order_by("read_at")

    def superseded_at(self, moment: datetime) -> Self:
        """Snapshots that were not the latest of their wallet at this moment: a later one existed by then."""
        later = HoldingSnapshot.objects.filter(wallet=OuterRef("wallet"), read_at__gt=OuterRef("read_at"))
        return self.filter(Exists(later.filter(read_at__lte=moment)))


class HoldingSnapshot(models.Model):
    """The holdings of a wallet at one reading. A higher tier requires them for a while (payments.tiers.holdings).

    The reading includes the transfers since the previous one.
    """

    wallet = models.ForeignKey(Wallet, on_delete=models.CASCADE, related_name="snapshots")
    read_at = models.DateTimeField("read from the chain at")
    tier = models.CharField(max_length=20, choices=TIER_CHOICES, help_text="The tier of these holdings")
    lowest_tier = models.CharField(
        max_length=20,
        choices=TIER_CHOICES,
        blank=True,
        default="",
        db_default="",
        help_text="The lowest tier of the holdings since the previous reading; empty: as `tier`",
    )
    holdings_usd = models.DecimalField("holdings in USD", max_digits=30, decimal_places=6)
    staked = models.DecimalField("staked, in whole tokens", max_digits=60, decimal_places=18)

    objects = HoldingSnapshots.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["wallet", "read_at"], name="one_snapshot_of_a_wallet_at_a_moment"),
            models.CheckConstraint(name="snapshot_of_a_known_tier", condition=Q(tier__in=list(TIERS))),
        ]
        indexes = [models.Index(fields=["read_at"], name="snapshot_by_age")]

    def __str__(self) -> str:
        return f"{shorten_address(self.wallet_id)}, {self.read_at:%Y-%m-%d %H:%M}: {self.tier}"


class SpentChallenges(models.QuerySet["SpentChallenge"]):
    def spend(self, nonce: str, *, expires_at: datetime) -> bool:
        """Record that a challenge was used; False if it was used before. One statement.

        Blocks while another transaction is spending the same challenge.
        """
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO payments_spentchallenge (nonce, expires_at) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                [nonce, expires_at],
            )
            return bool(cursor.rowcount == 1)


class SpentChallenge(models.Model):
    """A signed challenge that was used: it proves a wallet once, for a session or one request."""

    nonce = models.CharField(primary_key=True, max_length=64)
    expires_at = models.DateTimeField(db_index=True, help_text="When the challenge expires")

    objects = SpentChallenges.as_manager()

    def __str__(self) -> str:
        return f"{self.nonce[:8]}…"


class Plans(models.QuerySet["Plan"]):
    def current(self, now: datetime) -> Self:
        return self.filter(Q(valid_until=None) | Q(valid_until__gt=now), valid_from__lte=now)


class Plan(models.Model):
    """Terms that staff have agreed on with the owner of a wallet, or with an account: Enterprise, by contract."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=120, help_text="Customer or contract number")
    wallet = models.ForeignKey(Wallet, on_delete=models.PROTECT, null=True, blank=True, related_name="plans")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, blank=True, related_name="plans")
    tier = models.CharField(max_length=20, choices=TIER_CHOICES, default="enterprise")
    per_minute = models.PositiveIntegerField(
        "requests a minute", null=True, blank=True, help_text="Empty: as in the tier"
    )
    price_factor = models.DecimalField(
        max_digits=5,
        decimal_places=4,
        default=1,
        help_text="Factor on the tier's prices: 0.8 is 20 % off; 0 makes all products of the tier free",
    )
    sla = models.TextField("service-level agreement", blank=True, help_text="Empty: as in the tier")
    valid_from = models.DateTimeField()
    valid_until = models.DateTimeField(null=True, blank=True, help_text="Empty: no end")
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = Plans.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="plan_is_of_a_wallet_or_an_account",
                condition=Q(wallet__isnull=False, account__isnull=True)
                | Q(wallet__isnull=True, account__isnull=False),
                violation_error_message="A plan is either of a wallet or of an account.",
            ),
            models.CheckConstraint(name="plan_of_a_known_tier", condition=Q(tier__in=list(TIERS))),
            models.CheckConstraint(
                name="plan_price_factor_is_not_below_zero",
                condition=Q(price_factor__gte=0),
                violation_error_message="A price factor is not below zero.",
            ),
            models.CheckConstraint(
                name="plan_rate_is_positive",
                condition=Q(per_minute__isnull=True) | Q(per_minute__gt=0),
                violation_error_message="At least one request a minute, or empty for the tier's.",
            ),
            models.CheckConstraint(
                name="plan_ends_after_it_begins",
                condition=Q(valid_until__isnull=True) | Q(valid_until__gt=F("valid_from")),
                violation_error_message="A plan ends after it begins.",
            ),
            *(
                ExclusionConstraint(
                    name=name,
                    expressions=[
                        (holder, RangeOperators.EQUAL),
                        (
                            Func(
                                "valid_from",
                                "valid_until",
                                RangeBoundary(),
                                function="TSTZRANGE",
                                output_field=DateTimeRangeField(),
                            ),
                            RangeOperators.OVERLAPS,
                        ),
                    ],
                    condition=Q(**{f"{holder}__isnull": False}),
                    violation_error_message=f"This {holder} has another plan at that time.",
                )
                for holder, name in (
                    ("wallet", "one_plan_of_a_wallet_at_a_time"),
                    ("account", "one_plan_of_an_account_at_a_time"),
                )
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.tier}"


class TierTerms(models.Model):
    """The support, priority and service level of a tier, as staff have worded them."""

    tier = models.CharField(primary_key=True, max_length=20, choices=TIER_CHOICES)
    support = models.CharField(
        max_length=200, help_text="Shown to clients, for example: email, answered within two days"
    )
    priority = models.CharField(
        max_length=20, choices=[(name, name.capitalize()) for name in PRIORITIES], help_text="Queue of the tier's jobs"
    )
    sla = models.TextField("service-level agreement", blank=True, help_text="Empty: none")

    class Meta:
        verbose_name_plural = "tier terms"
        constraints = [
            models.CheckConstraint(name="terms_of_a_known_tier", condition=Q(tier__in=list(TIERS))),
            models.CheckConstraint(name="terms_of_a_known_priority", condition=Q(priority__in=list(PRIORITIES))),
        ]

    def __str__(self) -> str:
        return str(self.tier).capitalize()
