-- A digest that changes with every row that the page of a day shows.
SELECT md5(concat(
    (SELECT string_agg(item::text, '' ORDER BY id) FROM reservations_table AS item WHERE venue_id = %(venue)s),
    (SELECT string_agg(item::text, '' ORDER BY id) FROM reservations_area AS item WHERE venue_id = %(venue)s),
    (SELECT string_agg(item::text, '' ORDER BY id) FROM reservations_serviceperiod AS item
     WHERE venue_id = %(venue)s),
    (SELECT string_agg(item::text, '' ORDER BY id) FROM reservations_closure AS item
     WHERE venue_id = %(venue)s AND last_date >= %(day)s::date - 2 AND first_date <= %(day)s::date + 2),
    (SELECT concat(count(*), ' ', sum(version), ' ', max(updated_at)) FROM reservations_reservation
     WHERE venue_id = %(venue)s AND starts_at >= %(since)s AND starts_at < %(until)s),
    (SELECT string_agg(item::text, '' ORDER BY id) FROM reservations_hold AS item
     WHERE venue_id = %(venue)s AND expires_at > %(now)s AND starts_at >= %(since)s AND starts_at < %(until)s)
))
