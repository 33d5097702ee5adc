-- Keep the number of reservations of each venue and status up to date, for the totals of lists.
-- Calls update_record_counts (accounts/sql).
CREATE OR REPLACE TRIGGER reservations_added AFTER INSERT ON reservations_reservation REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION update_record_counts('reservation');

CREATE OR REPLACE TRIGGER reservations_changed AFTER UPDATE ON reservations_reservation
REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION update_record_counts('reservation');

CREATE OR REPLACE TRIGGER reservations_removed AFTER DELETE ON reservations_reservation REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION update_record_counts('reservation');
