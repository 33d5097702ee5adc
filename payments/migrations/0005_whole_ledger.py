"""Events, refunds, plans, snapshots, spent challenges, audits, and what tiers promise."""

import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
from django.contrib.postgres.operations import BtreeGistExtension
from django.db import migrations, models

import config.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_webhooks_that_are_slow_or_fail"),
        ("payments", "0004_payment_looked_at_again"),
    ]

    operations = [
        BtreeGistExtension(),
        migrations.CreateModel(
            name="Audit",
            fields=[
                (
                    "id",
                    models.UUIDField(default=config.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("network", models.CharField(help_text="CAIP-2", max_length=40)),
                ("pay_to", models.CharField(max_length=42)),
                ("first_block", models.BigIntegerField()),
                ("last_block", models.BigIntegerField()),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("transfers", models.PositiveIntegerField(default=0, help_text="That arrived in these blocks")),
                (
                    "arrived_usdc",
                    models.DecimalField(decimal_places=6, default=0, max_digits=78, verbose_name="arrived, in USDC"),
                ),
                (
                    "booked_usdc",
                    models.DecimalField(
                        decimal_places=6, default=0, max_digits=78, verbose_name="in the ledger, in USDC"
                    ),
                ),
                (
                    "orphans",
                    models.PositiveIntegerField(
                        default=0, help_text="Transfers that bought nothing: owed back from now on"
                    ),
                ),
                (
                    "differences",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300),
                        blank=True,
                        default=list,
                        help_text="Lines of the ledger that the chain does not bear out",
                        size=None,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HoldingSnapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                        help_text="That this much leads to",
                        max_length=20,
                    ),
                ),
                ("holdings_usd", models.DecimalField(decimal_places=6, max_digits=30, verbose_name="holdings in USD")),
                (
                    "staked",
                    models.DecimalField(decimal_places=18, max_digits=60, verbose_name="staked, in whole tokens"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PaymentEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("before", models.CharField(blank=True, max_length=20)),
                ("after", models.CharField(blank=True, max_length=20)),
                ("attempt", models.PositiveIntegerField()),
                ("payer", models.CharField(max_length=42)),
                ("amount_usdc", models.DecimalField(decimal_places=6, max_digits=78, verbose_name="amount in USDC")),
                ("tx_hash", models.CharField(blank=True, max_length=66, verbose_name="transaction")),
                ("error", models.CharField(blank=True, max_length=500)),
                ("actor", models.CharField(help_text="The product itself, or who of the staff", max_length=80)),
            ],
        ),
        migrations.CreateModel(
            name="Plan",
            fields=[
                (
                    "id",
                    models.UUIDField(default=config.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "name",
                    models.CharField(help_text="Whom it is agreed with, or the contract's number", max_length=120),
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
                        blank=True, help_text="Empty: those of the tier", null=True, verbose_name="requests a minute"
                    ),
                ),
                (
                    "price_factor",
                    models.DecimalField(
                        decimal_places=4,
                        default=1,
                        help_text="Times the prices of the tier's rate: 0.8 is a fifth off",
                        max_digits=5,
                    ),
                ),
                (
                    "sla",
                    models.TextField(
                        blank=True, help_text="Empty: that of the tier", verbose_name="service-level agreement"
                    ),
                ),
                ("valid_from", models.DateTimeField()),
                ("valid_until", models.DateTimeField(blank=True, help_text="Empty: until further notice", null=True)),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="Refund",
            fields=[
                (
                    "id",
                    models.UUIDField(default=config.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("amount_usdc", models.DecimalField(decimal_places=6, max_digits=78, verbose_name="amount in USDC")),
                ("to", models.CharField(help_text="The payer", max_length=42)),
                ("tx_hash", models.CharField(max_length=66, verbose_name="transaction")),
                ("by", models.CharField(help_text="Who has noted it", max_length=80)),
                ("created_at", models.DateTimeField()),
                (
                    "confirmed_at",
                    models.DateTimeField(blank=True, help_text="When it was seen on the chain", null=True),
                ),
                ("error", models.CharField(blank=True, help_text="What the chain shows instead", max_length=500)),
            ],
        ),
        migrations.CreateModel(
            name="SpentChallenge",
            fields=[
                ("nonce", models.CharField(max_length=64, primary_key=True, serialize=False)),
                (
                    "expires_at",
                    models.DateTimeField(db_index=True, help_text="From then on the challenge itself is too old"),
                ),
            ],
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
                    models.CharField(help_text="As callers read it: e-mail, answered within two days", max_length=200),
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
                        help_text="The queue of its jobs",
                        max_length=20,
                    ),
                ),
                ("sla", models.TextField(blank=True, help_text="Empty: none", verbose_name="service-level agreement")),
            ],
            options={
                "verbose_name_plural": "tier terms",
            },
        ),
        migrations.AddField(
            model_name="payment",
            name="payment_identifier",
            field=models.CharField(
                blank=True, help_text="By which the payer knows it (x402, payment-identifier)", max_length=128
            ),
        ),
        migrations.AddField(
            model_name="wallet",
            name="rises_at",
            field=models.DateTimeField(blank=True, help_text="When it is old enough, if it stays", null=True),
        ),
        migrations.AddField(
            model_name="wallet",
            name="rising_tier",
            field=models.CharField(
                blank=True,
                choices=[("free", "Free"), ("pro", "Pro"), ("premium", "Premium"), ("enterprise", "Enterprise")],
                help_text="That its holding leads to once it is old enough",
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("payment_identifier", ""), _negated=True),
                fields=("payer", "payment_identifier"),
                name="a_payment_identifier_names_one_payment_of_its_payer",
            ),
        ),
        migrations.AddConstraint(
            model_name="audit",
            constraint=models.CheckConstraint(
                condition=models.Q(("last_block__gte", models.F("first_block"))), name="audit_spans_blocks"
            ),
        ),
        migrations.AddConstraint(
            model_name="audit",
            constraint=models.UniqueConstraint(
                fields=("network", "pay_to", "first_block"), name="a_block_is_audited_once_for_an_address"
            ),
        ),
        migrations.AddField(
            model_name="holdingsnapshot",
            name="wallet",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="snapshots", to="payments.wallet"
            ),
        ),
        migrations.AddField(
            model_name="paymentevent",
            name="payment",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="events",
                to="payments.payment",
            ),
        ),
        migrations.AddField(
            model_name="plan",
            name="account",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="plans",
                to="accounts.account",
            ),
        ),
        migrations.AddField(
            model_name="plan",
            name="wallet",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="plans",
                to="payments.wallet",
            ),
        ),
        migrations.AddField(
            model_name="refund",
            name="payment",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="refund", to="payments.payment"
            ),
        ),
        migrations.AddConstraint(
            model_name="tierterms",
            constraint=models.CheckConstraint(
                condition=models.Q(("tier__in", ["free", "pro", "premium", "enterprise"])),
                name="terms_of_a_known_tier",
            ),
        ),
        migrations.AddConstraint(
            model_name="tierterms",
            constraint=models.CheckConstraint(
                condition=models.Q(("priority__in", ["standard", "elevated", "priority", "dedicated"])),
                name="terms_of_a_known_priority",
            ),
        ),
        migrations.AddIndex(
            model_name="holdingsnapshot",
            index=models.Index(fields=["read_at"], name="snapshot_by_age"),
        ),
        migrations.AddConstraint(
            model_name="holdingsnapshot",
            constraint=models.UniqueConstraint(
                fields=("wallet", "read_at"), name="one_snapshot_of_a_wallet_at_a_moment"
            ),
        ),
        migrations.AddConstraint(
            model_name="holdingsnapshot",
            constraint=models.CheckConstraint(
                condition=models.Q(("tier__in", ["free", "pro", "premium", "enterprise"])),
                name="snapshot_of_a_known_tier",
            ),
        ),
        migrations.AddIndex(
            model_name="paymentevent",
            index=models.Index(fields=["payment", "id"], name="event_of_payment"),
        ),
        migrations.AddIndex(
            model_name="paymentevent",
            index=models.Index(fields=["at"], name="payment_event_by_age"),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("account__isnull", True), ("wallet__isnull", False)),
                    models.Q(("account__isnull", False), ("wallet__isnull", True)),
                    _connector="OR",
                ),
                name="plan_is_of_a_wallet_or_an_account",
                violation_error_message="A plan is either of a wallet or of an account.",
            ),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(("tier__in", ["free", "pro", "premium", "enterprise"])), name="plan_of_a_known_tier"
            ),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(("price_factor__gt", 0)),
                name="plan_price_factor_is_positive",
                violation_error_message="A price factor is above zero.",
            ),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(("per_minute__isnull", True), ("per_minute__gt", 0), _connector="OR"),
                name="plan_rate_is_positive",
                violation_error_message="At least one request a minute, or empty for the tier's.",
            ),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("valid_until__isnull", True), ("valid_until__gt", models.F("valid_from")), _connector="OR"
                ),
                name="plan_ends_after_it_begins",
                violation_error_message="A plan ends after it begins.",
            ),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
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
        ),
        migrations.AddIndex(
            model_name="refund",
            index=models.Index(fields=["tx_hash"], name="refund_by_transaction"),
        ),
        migrations.AddConstraint(
            model_name="refund",
            constraint=models.CheckConstraint(condition=models.Q(("amount_usdc__gt", 0)), name="refund_is_positive"),
        ),
        migrations.AddConstraint(
            model_name="refund",
            constraint=models.CheckConstraint(
                condition=models.Q(("tx_hash__regex", "^0x[0-9a-f]{64}$")), name="refund_names_a_transaction"
            ),
        ),
    ]
