"""Tables that are booked by the data API, with or without an offer."""
