-- One round trip. The order is stored from its record, which is complete except for the number, and from the columns that the
-- record shows in another form. The foreign key of the lines is checked at the commit, when the order exists.
WITH counted AS (
    INSERT INTO orders_ordernumber AS before (venue_id, business_date, last) VALUES (%(venue)s, %(day)s, 1)
    ON CONFLICT (venue_id, business_date) DO UPDATE SET last = before.last + 1 RETURNING last
), placed AS (
    INSERT INTO orders_order (id, venue_id, number, business_date, status, customer_id, delivery_address, is_dine_in,
        "table", contact_name, contact_phone, contact_email, requested_at, promised_at, slot, portions, channel,
        payment_method, currency, subtotal, tax, charges, tip, total, usdc_amount, payment_state, metadata,
        version, created_at, updated_at)
    SELECT %(subject)s, %(venue)s, counted.last, %(day)s, new.status, new.customer_id, new.delivery_address,
        extra.is_dine_in, extra."table", extra.contact_name, extra.contact_phone, extra.contact_email,
        extra.requested_at, extra.promised_at, extra.slot, extra.portions, new.channel, new.payment_method, new.currency, new.subtotal,
        new.tax, new.charges, new.tip, new.total, extra.usdc_amount, extra.payment_state, new.metadata, new.version, %(now)s, %(now)s
    FROM counted, jsonb_to_record(%(record)s::jsonb) AS new (status text, customer_id text, delivery_address text,
        channel text, payment_method text, currency text, subtotal numeric, tax numeric, charges jsonb, tip numeric,
        total numeric, metadata jsonb, version int),
        jsonb_to_record(%(columns)s::jsonb) AS extra (is_dine_in bool, "table" text, contact_name text,
        contact_phone text, contact_email text, requested_at timestamptz, promised_at timestamptz, slot timestamptz,
        portions jsonb, usdc_amount numeric, payment_state text)
), line AS (
    INSERT INTO orders_orderitem
        (order_id, position, menu_item_id, name, quantity, notes, modifiers, station, unit_price, tax_percent, line_total)
    SELECT %(subject)s, new.nth - 1, new.menu_item_id, new.name, new.quantity, new.notes, new.modifiers, new.station,
        new.unit_price, new.tax_percent, new.line_total
    FROM ROWS FROM (
        jsonb_to_recordset(%(record)s::jsonb -> 'items') AS (menu_item_id text, name text, quantity int, notes text,
            modifiers jsonb, unit_price numeric, line_total numeric),
        jsonb_to_recordset(%(lines)s::jsonb) AS (tax_percent numeric, station text)
    ) WITH ORDINALITY AS new (menu_item_id, name, quantity, notes, modifiers, unit_price, line_total, tax_percent,
        station, nth)
), {event_ctes}
SELECT counted.last, (SELECT count(*) FROM delivery) FROM counted
