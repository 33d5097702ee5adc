-- The revenue of a period (payments/reports/revenue.py); the money of venues (deposits, paid orders) has lines apart. A payment
-- counts at the time its money arrived, or, while its outcome is open, when it was last sent. Grouped by all columns
-- first, and these few hundred groups by each column: a third of the time of grouping all payments by each.
WITH lines AS (
    SELECT date_trunc(%(per)s, settled_at, 'UTC') AS moment, products, tier, form, channel, network,
        count(*) FILTER (WHERE state IN ('settled', 'delivered')) AS payments,
        sum(amount_usdc) FILTER (WHERE state IN ('settled', 'delivered')) AS usdc,
        count(*) FILTER (WHERE state = 'refund_due') AS refunds_due,
        sum(amount_usdc) FILTER (WHERE state = 'refund_due') AS refunds_due_usdc,
        count(*) FILTER (WHERE state = 'refunded') AS refunded,
        sum(amount_usdc) FILTER (WHERE state = 'refunded') AS refunded_usdc,
        0 AS unknown
    FROM payments_payment
    WHERE settled_at >= %(since)s AND settled_at < %(until)s
    GROUP BY 1, 2, 3, 4, 5, 6
    UNION ALL
    SELECT date_trunc(%(per)s, claimed_at, 'UTC'), products, tier, form, channel, network, 0, 0, 0, 0, 0, 0, count(*)
    FROM payments_payment
    WHERE state IN ('claimed', 'unknown') AND claimed_at >= %(since)s AND claimed_at < %(until)s
    GROUP BY 1, 2, 3, 4, 5, 6
), named AS (
    SELECT *, array_to_string(ARRAY(SELECT unnest(products) ORDER BY 1), ' + ') AS product FROM lines
)
SELECT
    CASE 0 WHEN GROUPING(moment) THEN 'moment' WHEN GROUPING(product) THEN 'product' WHEN GROUPING(tier) THEN 'tier'
        WHEN GROUPING(form) THEN 'form' WHEN GROUPING(channel) THEN 'channel' WHEN GROUPING(network) THEN 'network'
        ELSE 'all' END,
    coalesce(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD'), product, tier, form, channel, network, 'all'),
    coalesce(sum(payments), 0)::bigint, coalesce(sum(usdc), 0),
    coalesce(sum(refunds_due), 0)::bigint, coalesce(sum(refunds_due_usdc), 0),
    coalesce(sum(refunded), 0)::bigint, coalesce(sum(refunded_usdc), 0), coalesce(sum(unknown), 0)::bigint
FROM named
WHERE product <> ALL(%(of_venues)s)
GROUP BY GROUPING SETS ((moment), (product), (tier), (form), (channel), (network), ())
UNION ALL
SELECT 'of_venues', product,
    coalesce(sum(payments), 0)::bigint, coalesce(sum(usdc), 0),
    coalesce(sum(refunds_due), 0)::bigint, coalesce(sum(refunds_due_usdc), 0),
    coalesce(sum(refunded), 0)::bigint, coalesce(sum(refunded_usdc), 0), coalesce(sum(unknown), 0)::bigint
FROM named
WHERE product = ANY(%(of_venues)s)
GROUP BY product
