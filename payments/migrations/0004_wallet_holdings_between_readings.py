"""Record the lowest holding between two readings of a wallet, and the block of the last reading."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0003_owners_and_receivers"),
    ]

    operations = [
        migrations.AddField(
            model_name="holdingsnapshot",
            name="lowest_tier",
            field=models.CharField(
                blank=True,
                choices=[("free", "Free"), ("pro", "Pro"), ("premium", "Premium"), ("enterprise", "Enterprise")],
                db_default="",
                default="",
                help_text="The lowest tier of the holdings since the previous reading; empty: as `tier`",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="wallet",
            name="read_block",
            field=models.BigIntegerField(
                blank=True, help_text="The latest block then: the next reading includes all transfers since", null=True
            ),
        ),
    ]
