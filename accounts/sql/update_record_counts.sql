-- Update the number of records of each venue and status (accounts_recordcount) after a statement that wrote records.
-- The argument of the trigger is the record_type ("order", "reservation").
-- Called by the triggers of orders/sql/count_orders.sql and reservations/sql/count_reservations.sql.
-- Rows are always locked in the same order and by one statement, so that two status changes cannot deadlock.
CREATE OR REPLACE FUNCTION update_record_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO accounts_recordcount AS counted (venue_id, record_type, status, total)
        SELECT venue_id, TG_ARGV[0], status, count(*) FROM added GROUP BY venue_id, status ORDER BY venue_id, status
        ON CONFLICT (venue_id, record_type, status) DO UPDATE SET total = counted.total + excluded.total;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO accounts_recordcount AS counted (venue_id, record_type, status, total)
        SELECT venue_id, TG_ARGV[0], status, -count(*) FROM removed GROUP BY venue_id, status ORDER BY venue_id, status
        ON CONFLICT (venue_id, record_type, status) DO UPDATE SET total = counted.total + excluded.total;
    ELSE
        INSERT INTO accounts_recordcount AS counted (venue_id, record_type, status, total)
        SELECT venue_id, TG_ARGV[0], status, sum(change)
        FROM (
            SELECT venue_id, status, 1 AS change FROM added
            UNION ALL SELECT venue_id, status, -1 FROM removed
        ) AS changes
        GROUP BY venue_id, status HAVING sum(change) <> 0 ORDER BY venue_id, status
        ON CONFLICT (venue_id, record_type, status) DO UPDATE SET total = counted.total + excluded.total;
    END IF;
    RETURN NULL;
END $$;
