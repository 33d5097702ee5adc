"""Of an export that staff have under way there is one, as there is for a wallet."""

from django.db import migrations, models
from django.db.models import Q

# Staff see which one is left; workers let go of the others.
ONE_IS_LEFT = """
UPDATE catalogue_export AS later SET status = 'cancelled', error = 'The same was ordered before.', finished_at = now()
FROM catalogue_export AS first
WHERE later.wallet_id IS NULL AND later.status IN ('awaiting_payment', 'queued', 'running')
  AND first.wallet_id IS NULL AND first.status IN ('awaiting_payment', 'queued', 'running')
  AND first.fingerprint = later.fingerprint AND first.id < later.id
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0031_insights_know_when_their_input_changed")]

    operations = [
        migrations.RunSQL(ONE_IS_LEFT, migrations.RunSQL.noop),
        migrations.RemoveConstraint(model_name="export", name="one_unfinished_export_of_a_kind_and_wallet"),
        migrations.AddConstraint(
            model_name="export",
            constraint=models.UniqueConstraint(
                fields=["wallet", "fingerprint"],
                condition=Q(status__in=("awaiting_payment", "queued", "running")),
                name="one_unfinished_export_of_a_kind_and_wallet",
                nulls_distinct=False,
            ),
        ),
    ]
