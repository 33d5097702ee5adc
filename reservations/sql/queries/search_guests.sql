-- MATERIALIZED: otherwise the planner reads the venue's reservations in order of time instead of the trigram index.
-- The expression is that of the index reservation_by_guest_trigram, as Django writes its Concat.
WITH hits AS MATERIALIZED (
    SELECT id, customer_name, customer_email, customer_phone, starts_at, status, arrival
    FROM reservations_reservation
    WHERE venue_id = %(venue)s AND erased_at IS NULL
        AND upper(coalesce(customer_name, '')::text || coalesce(E'\n'::text || coalesce(
            coalesce(customer_email, '')::text || coalesce(E'\n'::text || coalesce(customer_phone, '')::text, ''), ''), '')
        ) LIKE %(pattern)s
)
SELECT * FROM hits ORDER BY starts_at DESC, id DESC LIMIT %(limit)s
