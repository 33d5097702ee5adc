"""What was noted on the payment becomes a row of its own."""

from django.db import migrations

MOVE = """
INSERT INTO payments_refund (id, payment_id, amount_usdc, "to", tx_hash, "by", created_at, error)
SELECT uuidv7(), id, amount_usdc, payer, refund_tx_hash, 'staff', refunded_at, ''
FROM payments_payment WHERE state = 'refunded' AND refund_tx_hash <> ''
"""


class Migration(migrations.Migration):
    dependencies = [("payments", "0005_whole_ledger")]

    operations = [
        migrations.RunSQL(MOVE, migrations.RunSQL.noop),
        migrations.RemoveField(model_name="payment", name="refund_tx_hash"),
    ]
