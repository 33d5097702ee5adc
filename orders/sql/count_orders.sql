-- Keep the number of orders of each venue and status up to date, for the totals of lists.
-- Calls update_record_counts (accounts/sql).
CREATE OR REPLACE TRIGGER orders_added AFTER INSERT ON orders_order REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION update_record_counts('order');

CREATE OR REPLACE TRIGGER orders_changed AFTER UPDATE ON orders_order REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION update_record_counts('order');

CREATE OR REPLACE TRIGGER orders_removed AFTER DELETE ON orders_order REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION update_record_counts('order');
