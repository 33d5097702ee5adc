import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.contrib.postgres.operations import BtreeGistExtension
from django.db import migrations, models

import framework.public_ids
from framework.db.deferred_sql import create_references


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        BtreeGistExtension(),
        migrations.CreateModel(
            name="Audit",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("network", models.CharField(help_text="CAIP-2", max_length=40)),
                ("pay_to", models.CharField(max_length=42)),
                ("first_block", models.BigIntegerField()),
                ("last_block", models.BigIntegerField()),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("transfers", models.PositiveIntegerField(default=0, help_text="Transfers in these blocks")),
                (
                    "arrived_usdc",
                    models.DecimalField(decimal_places=6, default=0, max_digits=78, verbose_name="arrived, in USDC"),
                ),
                (
                    "ledger_usdc",
                    models.DecimalField(
                        decimal_places=6, default=0, max_digits=78, verbose_name="in the ledger, in USDC"
                    ),
                ),
                ("orphans", models.PositiveIntegerField(default=0, help_text="Unmatched transfers: refund due")),
                (
                    "differences",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300),
                        blank=True,
                        default=list,
                        help_text="Differences between ledger and chain",
                        size=None,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("last_block__gte", models.F("first_block"))), name="audit_spans_blocks"
                    ),
                    models.UniqueConstraint(
                        fields=("network", "pay_to", "first_block"), name="a_block_is_audited_once_for_an_address"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Payment",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "form",
                    models.CharField(
                        choices=[("v2", "x402 version 2"), ("v1", "x402 version 1"), ("tx", "Transaction hash")],
                        max_length=2,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("claimed", "Claimed: being settled"),
                            ("unknown", "Unknown: sent, outcome not known"),
                            ("settled", "Settled"),
                            ("delivered", "Delivered"),
                            ("expired", "Expired unsettled"),
                            ("refund_due", "Refund due"),
                            ("refunded", "Refunded"),
                        ],
                        max_length=20,
                    ),
                ),
                ("network", models.CharField(help_text="CAIP-2", max_length=40)),
                ("asset", models.CharField(max_length=42)),
                ("payer", models.CharField(max_length=42)),
                ("pay_to", models.CharField(max_length=42)),
                ("amount_usdc", models.DecimalField(decimal_places=6, max_digits=78, verbose_name="amount in USDC")),
                ("proof_key", models.CharField(max_length=200)),
                (
                    "signature_digest",
                    models.CharField(
                        blank=True,
                        help_text="SHA-256 of the signed message and its signature",
                        max_length=64,
                        verbose_name="signature hash",
                    ),
                ),
                (
                    "payment_identifier",
                    models.CharField(
                        blank=True, help_text="The payer's identifier (x402 payment-identifier)", max_length=128
                    ),
                ),
                ("purchase", models.CharField(max_length=64)),
                (
                    "method",
                    models.CharField(
                        db_default="GET", default="GET", help_text="HTTP method of the request", max_length=10
                    ),
                ),
                (
                    "channel",
                    models.CharField(
                        choices=[("rest", "REST"), ("mcp", "MCP")],
                        db_default="rest",
                        default="rest",
                        help_text="Channel of the request",
                        max_length=4,
                    ),
                ),
                ("resource", models.TextField(help_text="The address of the request")),
                (
                    "products",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None),
                ),
                (
                    "tier",
                    models.CharField(
                        choices=[
                            ("free", "Free"),
                            ("pro", "Pro"),
                            ("premium", "Premium"),
                            ("enterprise", "Enterprise"),
                        ],
                        help_text="The payer's tier at the time of payment",
                        max_length=20,
                    ),
                ),
                ("valid_before", models.DateTimeField(blank=True, null=True)),
                ("tx_hash", models.CharField(blank=True, max_length=66, null=True, verbose_name="transaction")),
                ("log_index", models.PositiveIntegerField(blank=True, null=True)),
                ("block", models.BigIntegerField(blank=True, null=True)),
                ("facilitator", models.CharField(blank=True, max_length=200)),
                ("error", models.CharField(blank=True, max_length=500)),
                (
                    "rechecked_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the chain was last asked again about a payment that has ended",
                        null=True,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField()),
                ("claimed_at", models.DateTimeField(help_text="When a request last began to settle it")),
                ("settled_at", models.DateTimeField(blank=True, null=True)),
                ("delivered_at", models.DateTimeField(blank=True, null=True)),
                ("refunded_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["claimed", "unknown"])),
                        fields=["claimed_at"],
                        name="payment_open",
                    ),
                    models.Index(
                        condition=models.Q(("state", "expired")), fields=["created_at"], name="payment_expired"
                    ),
                    models.Index(
                        condition=models.Q(
                            ("block__isnull", True), ("state__in", ["settled", "delivered", "refund_due", "refunded"])
                        ),
                        fields=["settled_at"],
                        name="payment_unconfirmed",
                    ),
                    models.Index(
                        condition=models.Q(("delivered_at__isnull", True), ("state", "settled")),
                        fields=["settled_at"],
                        name="payment_undelivered",
                    ),
                    models.Index(fields=["payer", "-created_at"], name="payment_newest_of_payer"),
                    models.Index(
                        condition=models.Q(
                            ("state__in", ["claimed", "unknown", "settled", "expired", "refund_due", "refunded"])
                        ),
                        fields=["payer", "-created_at"],
                        name="payment_undelivered_of_payer",
                    ),
                    models.Index(
                        condition=models.Q(("state", "refund_due")), fields=["settled_at"], name="payment_refund_due"
                    ),
                    models.Index(
                        condition=models.Q(("settled_at__isnull", False)),
                        fields=["settled_at", "id"],
                        name="payment_arrived",
                    ),
                    models.Index(fields=["tx_hash"], name="payment_by_transaction"),
                    models.Index(fields=["block"], name="payment_by_block"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("network", "proof_key"), name="a_proof_pays_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("payment_identifier", ""), _negated=True),
                        fields=("payer", "payment_identifier"),
                        name="a_payment_identifier_names_one_payment_of_its_payer",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ["claimed", "unknown", "settled", "delivered", "expired", "refund_due", "refunded"],
                            )
                        ),
                        name="payment_state_is_known",
                    ),
                    models.CheckConstraint(condition=models.Q(("amount_usdc__gt", 0)), name="payment_is_positive"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["settled", "delivered", "refund_due", "refunded"]), _negated=True),
                            models.Q(("settled_at__isnull", False), ("tx_hash__isnull", False)),
                            _connector="OR",
                        ),
                        name="money_that_arrived_has_its_transaction",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "refunded"), _negated=True),
                            ("refunded_at__isnull", False),
                            _connector="OR",
                        ),
                        name="a_refund_names_its_moment",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PaymentEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "payment",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="payments.payment",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("before", models.CharField(blank=True, max_length=20)),
                ("after", models.CharField(blank=True, max_length=20)),
                ("attempt", models.PositiveIntegerField()),
                ("payer", models.CharField(max_length=42)),
                ("amount_usdc", models.DecimalField(decimal_places=6, max_digits=78, verbose_name="amount in USDC")),
                ("tx_hash", models.CharField(blank=True, max_length=66, verbose_name="transaction")),
                ("error", models.CharField(blank=True, max_length=500)),
                ("actor", models.CharField(help_text="The system, or the member of staff", max_length=80)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["payment", "id"], name="event_of_payment"),
                    models.Index(fields=["payer", "id"], name="event_of_payer"),
                    models.Index(fields=["at"], name="payment_event_by_age"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Refund",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "payment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="refund", to="payments.payment"
                    ),
                ),
                ("amount_usdc", models.DecimalField(decimal_places=6, max_digits=78, verbose_name="amount in USDC")),
                ("to", models.CharField(help_text="The payer", max_length=42)),
                ("tx_hash", models.CharField(max_length=66, verbose_name="transaction")),
                (
                    "offset_usdc",
                    models.DecimalField(
                        decimal_places=6,
                        default=0,
                        help_text="What other refunds claim of the same transaction and payer",
                        max_digits=78,
                        verbose_name="offset, in USDC",
                    ),
                ),
                (
                    "moved_usdc",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="What the chain shows that the transaction has moved to the payer",
                        max_digits=78,
                        null=True,
                        verbose_name="moved, in USDC",
                    ),
                ),
                (
                    "senders",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=42),
                        blank=True,
                        default=list,
                        help_text="Senders of the USDC, as shown on the chain",
                        size=None,
                    ),
                ),
                ("by", models.CharField(help_text="User who recorded the refund", max_length=80)),
                ("created_at", models.DateTimeField()),
                (
                    "confirmed_at",
                    models.DateTimeField(blank=True, help_text="When it was confirmed on the chain", null=True),
                ),
                ("error", models.CharField(blank=True, help_text="What the chain shows instead", max_length=500)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tx_hash"], name="refund_by_transaction"),
                    models.Index(
                        condition=models.Q(("confirmed_at", None)), fields=["created_at"], name="refund_unconfirmed"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount_usdc__gt", 0)), name="refund_is_positive"),
                    models.CheckConstraint(
                        condition=models.Q(("tx_hash__regex", "^0x[0-9a-f]{64}$")), name="refund_names_a_transaction"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("offset_usdc__gte", 0),
                            models.Q(
                                ("moved_usdc", None),
                                (
                                    "moved_usdc__gte",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("offset_usdc"), "+", models.F("amount_usdc")
                                    ),
                                ),
                                _connector="OR",
                            ),
                        ),
                        name="refunds_claim_no_more_than_was_moved",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("confirmed_at", None), ("moved_usdc__isnull", False), _connector="OR"),
                        name="a_confirmed_refund_was_moved",
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[
                            ("tx_hash", "="),
                            ("to", "="),
                            (
                                models.Func(
                                    "offset_usdc",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("offset_usdc"), "+", models.F("amount_usdc")
                                    ),
                                    function="NUMRANGE",
                                    output_field=django.contrib.postgres.fields.ranges.DecimalRangeField(),
                                ),
                                "&&",
                            ),
                        ],
                        name="nothing_that_was_moved_is_claimed_twice",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Product",
            fields=[
                ("slug", models.SlugField(max_length=40, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=80)),
                ("description", models.CharField(max_length=200)),
                (
                    "from_tier",
                    models.CharField(
                        choices=[
                            ("free", "Free"),
                            ("pro", "Pro"),
                            ("premium", "Premium"),
                            ("enterprise", "Enterprise"),
                        ],
                        default="free",
                        help_text="Minimum tier",
                        max_length=20,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("from_tier__in", ["free", "pro", "premium", "enterprise"])),
                        name="product_from_a_known_tier",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Price",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="prices", to="payments.product"
                    ),
                ),
                (
                    "rate",
                    models.CharField(
                        choices=[
                            ("standard", "Standard (Free, and clients without a wallet)"),
                            ("discounted", "Discounted (Pro)"),
                            ("best", "Best (Premium)"),
                            ("committed", "Committed (Enterprise)"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "amount_usdc",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="Empty: not for sale",
                        max_digits=20,
                        null=True,
                        verbose_name="amount in USDC",
                    ),
                ),
                ("valid_from", models.DateTimeField(verbose_name="valid from (UTC)")),
                (
                    "by",
                    models.CharField(
                        default="system", help_text="User who set the price", max_length=80, verbose_name="set by"
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="set at")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("amount_usdc__gt", 0)),
                        name="price_is_positive",
                        violation_error_message="A price is above zero; what is free is no product.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rate__in", ["standard", "discounted", "best", "committed"])),
                        name="price_rate_is_known",
                    ),
                    models.UniqueConstraint(
                        fields=("product", "rate", "valid_from"), name="one_price_of_a_product_and_rate_at_a_moment"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Revenue",
            fields=[],
            options={
                "verbose_name": "revenue",
                "verbose_name_plural": "revenue",
                "proxy": True,
                "default_permissions": (),
                "indexes": [],
                "constraints": [],
            },
            bases=("payments.payment",),
        ),
        migrations.CreateModel(
            name="Wallet",
            fields=[
                (
                    "address",
                    models.CharField(help_text="In lower case", max_length=42, primary_key=True, serialize=False),
                ),
                (
                    "account",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="wallets",
                        to="accounts.account",
                    ),
                ),
                (
                    "tier",
                    models.CharField(
                        choices=[
                            ("free", "Free"),
                            ("pro", "Pro"),
                            ("premium", "Premium"),
                            ("enterprise", "Enterprise"),
                        ],
                        default="free",
                        max_length=20,
                    ),
                ),
                (
                    "holdings_usd",
                    models.DecimalField(decimal_places=6, default=0, max_digits=30, verbose_name="holdings in USD"),
                ),
                (
                    "staked",
                    models.DecimalField(
                        decimal_places=18, default=0, max_digits=60, verbose_name="staked, in whole tokens"
                    ),
                ),
                ("read_at", models.DateTimeField(blank=True, null=True, verbose_name="read from the chain at")),
                (
                    "pending_tier",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("free", "Free"),
                            ("pro", "Pro"),
                            ("premium", "Premium"),
                            ("enterprise", "Enterprise"),
                        ],
                        help_text="The tier that the holding qualifies for after the waiting time",
                        max_length=20,
                    ),
                ),
                (
                    "pending_tier_at",
                    models.DateTimeField(
                        blank=True, help_text="End of the waiting time, if the holding remains", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("address__regex", "^0x[0-9a-f]{40}$")), name="wallet_address_is_valid"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("tier__in", ["free", "pro", "premium", "enterprise"])),
                        name="wallet_of_a_known_tier",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WalletSession",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sessions", to="payments.wallet"
                    ),
                ),
                ("nonce", models.CharField(help_text="Of the signed challenge, which is valid once", max_length=64)),
                ("digest", models.CharField(help_text="SHA-256 of the token", max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("nonce",), name="a_challenge_opens_one_session")],
            },
        ),
        migrations.CreateModel(
            name="HoldingSnapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "wallet",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="snapshots", to="payments.wallet"
                    ),
                ),
                ("read_at", models.DateTimeField(verbose_name="read from the chain at")),
                (
                    "tier",
                    models.CharField(
                        choices=[
                            ("free", "Free"),
                            ("pro", "Pro"),
                            ("premium", "Premium"),
                            ("enterprise", "Enterprise"),
                        ],
                        help_text="The tier of these holdings",
                        max_length=20,
                    ),
                ),
                ("holdings_usd", models.DecimalField(decimal_places=6, max_digits=30, verbose_name="holdings in USD")),
                (
                    "staked",
                    models.DecimalField(decimal_places=18, max_digits=60, verbose_name="staked, in whole tokens"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["read_at"], name="snapshot_by_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("wallet", "read_at"), name="one_snapshot_of_a_wallet_at_a_moment"),
                    models.CheckConstraint(
                        condition=models.Q(("tier__in", ["free", "pro", "premium", "enterprise"])),
                        name="snapshot_of_a_known_tier",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SpentChallenge",
            fields=[
                ("nonce", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("expires_at", models.DateTimeField(db_index=True, help_text="When the challenge expires")),
            ],
        ),
        migrations.CreateModel(
            name="Plan",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(help_text="Customer or contract number", max_length=120)),
                (
                    "wallet",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="plans",
                        to="payments.wallet",
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="plans",
                        to="accounts.account",
                    ),
                ),
                (
                    "tier",
                    models.CharField(
                        choices=[
                            ("free", "Free"),
                            ("pro", "Pro"),
                            ("premium", "Premium"),
                            ("enterprise", "Enterprise"),
                        ],
                        default="enterprise",
                        max_length=20,
                    ),
                ),
                (
                    "per_minute",
                    models.PositiveIntegerField(
                        blank=True, help_text="Empty: as in the tier", null=True, verbose_name="requests a minute"
                    ),
                ),
                (
                    "price_factor",
                    models.DecimalField(
                        decimal_places=4,
                        default=1,
                        help_text="Factor on the tier's prices: 0.8 is 20 % off; 0 makes all products of the tier free",
                        max_digits=5,
                    ),
                ),
                (
                    "sla",
                    models.TextField(
                        blank=True, help_text="Empty: as in the tier", verbose_name="service-level agreement"
                    ),
                ),
                ("valid_from", models.DateTimeField()),
                ("valid_until", models.DateTimeField(blank=True, help_text="Empty: no end", null=True)),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("account__isnull", True), ("wallet__isnull", False)),
                            models.Q(("account__isnull", False), ("wallet__isnull", True)),
                            _connector="OR",
                        ),
                        name="plan_is_of_a_wallet_or_an_account",
                        violation_error_message="A plan is either of a wallet or of an account.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("tier__in", ["free", "pro", "premium", "enterprise"])),
                        name="plan_of_a_known_tier",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("price_factor__gte", 0)),
                        name="plan_price_factor_is_not_below_zero",
                        violation_error_message="A price factor is not below zero.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("per_minute__isnull", True), ("per_minute__gt", 0), _connector="OR"),
                        name="plan_rate_is_positive",
                        violation_error_message="At least one request a minute, or empty for the tier's.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("valid_until__isnull", True), ("valid_until__gt", models.F("valid_from")), _connector="OR"
                        ),
                        name="plan_ends_after_it_begins",
                        violation_error_message="A plan ends after it begins.",
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        condition=models.Q(("wallet__isnull", False)),
                        expressions=[
                            ("wallet", "="),
                            (
                                models.Func(
                                    "valid_from",
                                    "valid_until",
                                    django.contrib.postgres.fields.ranges.RangeBoundary(),
                                    function="TSTZRANGE",
                                    output_field=django.contrib.postgres.fields.ranges.DateTimeRangeField(),
                                ),
                                "&&",
                            ),
                        ],
                        name="one_plan_of_a_wallet_at_a_time",
                        violation_error_message="This wallet has another plan at that time.",
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        condition=models.Q(("account__isnull", False)),
                        expressions=[
                            ("account", "="),
                            (
                                models.Func(
                                    "valid_from",
                                    "valid_until",
                                    django.contrib.postgres.fields.ranges.RangeBoundary(),
                                    function="TSTZRANGE",
                                    output_field=django.contrib.postgres.fields.ranges.DateTimeRangeField(),
                                ),
                                "&&",
                            ),
                        ],
                        name="one_plan_of_an_account_at_a_time",
                        violation_error_message="This account has another plan at that time.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TierTerms",
            fields=[
                (
                    "tier",
                    models.CharField(
                        choices=[
                            ("free", "Free"),
                            ("pro", "Pro"),
                            ("premium", "Premium"),
                            ("enterprise", "Enterprise"),
                        ],
                        max_length=20,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "support",
                    models.CharField(
                        help_text="Shown to clients, for example: email, answered within two days", max_length=200
                    ),
                ),
                (
                    "priority",
                    models.CharField(
                        choices=[
                            ("standard", "Standard"),
                            ("elevated", "Elevated"),
                            ("priority", "Priority"),
                            ("dedicated", "Dedicated"),
                        ],
                        help_text="Queue of the tier's jobs",
                        max_length=20,
                    ),
                ),
                ("sla", models.TextField(blank=True, help_text="Empty: none", verbose_name="service-level agreement")),
            ],
            options={
                "verbose_name_plural": "tier terms",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("tier__in", ["free", "pro", "premium", "enterprise"])),
                        name="terms_of_a_known_tier",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("priority__in", ["standard", "elevated", "priority", "dedicated"])),
                        name="terms_of_a_known_priority",
                    ),
                ],
            },
        ),
        migrations.RunPython(create_references, migrations.RunPython.noop),
    ]
