-- One round trip. The order is stored from its record, which is complete except for the number. The foreign key of the
-- lines is checked at the commit, when the order exists.
WITH counted AS (
    INSERT INTO orders_ordernumber AS before (venue_id, business_date, last) VALUES (%(venue)s, %(day)s, 1)
    ON CONFLICT (venue_id, business_date) DO UPDATE SET last = before.last + 1 RETURNING last
), placed AS (
    INSERT INTO orders_order (id, venue_id, number, business_date, status, customer_id, delivery_address,
        payment_method, currency, subtotal, tax, total, metadata, version, created_at, updated_at)
    SELECT %(subject)s, %(venue)s, counted.last, %(day)s, new.status, new.customer_id, new.delivery_address,
        new.payment_method, new.currency, new.subtotal, new.tax, new.total, new.metadata, new.version, %(now)s, %(now)s
    FROM counted, jsonb_to_record(%(record)s::jsonb) AS new (status text, customer_id text, delivery_address text,
        payment_method text, currency text, subtotal numeric, tax numeric, total numeric, metadata jsonb, version int)
), line AS (
    INSERT INTO orders_orderitem
        (order_id, position, menu_item_id, name, quantity, notes, unit_price, tax_percent, line_total)
    SELECT %(subject)s, new.nth - 1, new.menu_item_id, new.name, new.quantity, new.notes, new.unit_price,
        new.tax_percent::numeric, new.line_total
    FROM ROWS FROM (
        jsonb_to_recordset(%(record)s::jsonb -> 'items') AS
            (menu_item_id text, name text, quantity int, notes text, unit_price numeric, line_total numeric),
        jsonb_array_elements_text(%(tax_percents)s::jsonb)
    ) WITH ORDINALITY AS new (menu_item_id, name, quantity, notes, unit_price, line_total, tax_percent, nth)
), {event_ctes}
SELECT counted.last, (SELECT count(*) FROM delivery) FROM counted
