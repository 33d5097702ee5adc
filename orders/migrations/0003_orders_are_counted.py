from django.db import migrations

COUNT = """
CREATE TRIGGER orders_added AFTER INSERT ON orders_order REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_records('order');

CREATE TRIGGER orders_changed AFTER UPDATE ON orders_order REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_records('order');

CREATE TRIGGER orders_removed AFTER DELETE ON orders_order REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_records('order');

INSERT INTO accounts_tally (venue_id, noun, status, total)
SELECT venue_id, 'order', status, count(*) FROM orders_order GROUP BY venue_id, status;
"""
FORGET = """
DROP TRIGGER orders_removed ON orders_order;
DROP TRIGGER orders_changed ON orders_order;
DROP TRIGGER orders_added ON orders_order;
DELETE FROM accounts_tally WHERE noun = 'order';
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_records_can_be_counted"), ("orders", "0002_menus")]

    operations = [migrations.RunSQL(COUNT, FORGET)]
