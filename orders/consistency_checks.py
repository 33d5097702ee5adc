"""Consistency checks of orders."""

from datetime import datetime
from functools import partial

from accounts.consistency_checks import check_events, check_record_counts, check_stored_responses
from accounts.models.venues import PREFIX as VENUE
from framework.consistency import Checks, query
from framework.public_ids import encode
from orders.models import Order
from orders.models.orders import PREFIX

# Numbers are unique (a constraint), so none is missing if the highest equals the count. The orders of closed accounts
# are being deleted in batches.
NUMBERS = """
    SELECT venue_id, business_date || ': ' || count(placed.id) || ' orders, the highest number is '
        || coalesce(max(placed.number), 0) || ', ' || coalesce(max(counted.last), 0) || ' were assigned'
    FROM orders_order AS placed
    FULL JOIN orders_ordernumber AS counted USING (venue_id, business_date)
    JOIN accounts_venue AS venue ON venue.id = venue_id
    JOIN accounts_account AS account ON account.id = venue.account_id AND account.closed_at IS NULL
    GROUP BY venue_id, business_date
    HAVING count(placed.id) <> coalesce(max(counted.last), 0) OR coalesce(max(placed.number), 0) <> count(placed.id)
    ORDER BY venue_id, business_date
"""
# An order does not store whether prices include tax: its lines sum up to the total or the subtotal.
TOTALS = """
    SELECT placed.id, CASE
        WHEN lines = 0 THEN 'it has no lines'
        WHEN is_wrong THEN 'a line is not its price times its quantity'
        WHEN placed.total IS NULL THEN 'it has no total, and a priced line or another sum'
        WHEN priced < lines THEN 'it has a total, and a line without a price'
        WHEN placed.subtotal + placed.tax IS DISTINCT FROM placed.total
            THEN concat('subtotal ', placed.subtotal, ' and tax ', placed.tax, ' are not the total ', placed.total)
        ELSE concat('its lines sum up to ', amount, ', subtotal ', placed.subtotal, ', total ', placed.total)
    END
    FROM orders_order AS placed
    CROSS JOIN LATERAL (
        SELECT count(*) AS lines, count(line_total) AS priced, sum(line_total) AS amount,
            coalesce(bool_or(line_total IS DISTINCT FROM unit_price * quantity), false) AS is_wrong
        FROM orders_orderitem WHERE order_id = placed.id
    ) AS of_lines
    WHERE lines = 0 OR is_wrong
        OR placed.total IS NULL AND (priced > 0 OR placed.subtotal IS NOT NULL OR placed.tax IS NOT NULL)
        OR placed.total IS NOT NULL AND (
            priced < lines OR placed.subtotal + placed.tax IS DISTINCT FROM placed.total
            OR amount NOT IN (placed.subtotal, placed.total)
        )
    ORDER BY placed.id
"""


def checks(now: datetime) -> Checks:
    """Return the checks of order numbers, totals, record counts, events and stored responses."""
    return {
        "order_numbers": query("order_numbers", NUMBERS, subject=partial(encode, VENUE)),
        "order_totals": query("order_totals", TOTALS, subject=partial(encode, PREFIX)),
        "order_counts": check_record_counts("order", Order),
        "order_event": check_events("order", Order, prefix=PREFIX, now=now),
        "order_replay": check_stored_responses("order", Order, prefix=PREFIX),
    }
