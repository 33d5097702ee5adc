"""Refunds that were noted before claim one stretch after the other of what their transaction has moved."""

from django.db import migrations

LINE_UP = """
UPDATE payments_refund SET beyond_usdc = lined.beyond
FROM (
    SELECT id, sum(amount_usdc) OVER (PARTITION BY tx_hash, "to" ORDER BY created_at, id) - amount_usdc AS beyond
    FROM payments_refund
) AS lined
WHERE lined.id = payments_refund.id AND lined.beyond > 0
"""


class Migration(migrations.Migration):
    dependencies = [("payments", "0012_refunds_share_a_transaction")]

    operations = [migrations.RunSQL(LINE_UP, migrations.RunSQL.noop)]
