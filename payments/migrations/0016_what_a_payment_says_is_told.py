"""An event tells also of another amount, transaction or trouble of a payment that stays in its state."""

from django.db import migrations

MOVES = """
DROP TRIGGER payments_move ON payments_payment;
CREATE TRIGGER payments_move AFTER UPDATE ON payments_payment
    FOR EACH ROW
    WHEN ((OLD.state, OLD.attempts, OLD.purchase, OLD.amount_usdc, OLD.tx_hash, OLD.error)
        IS DISTINCT FROM (NEW.state, NEW.attempts, NEW.purchase, NEW.amount_usdc, NEW.tx_hash, NEW.error))
    EXECUTE FUNCTION payments_write_event();
"""
AS_BEFORE = """
DROP TRIGGER payments_move ON payments_payment;
CREATE TRIGGER payments_move AFTER UPDATE ON payments_payment
    FOR EACH ROW
    WHEN ((OLD.state, OLD.attempts, OLD.purchase) IS DISTINCT FROM (NEW.state, NEW.attempts, NEW.purchase))
    EXECUTE FUNCTION payments_write_event();
"""


class Migration(migrations.Migration):
    dependencies = [("payments", "0015_revenue_is_read_by_moment")]

    operations = [migrations.RunSQL(MOVES, AS_BEFORE)]
