"""Demo data of sandboxes: a restaurant in service today, after thirty days of orders, reservations and API calls."""
