"""The demo data of reservations: tables and hours, guests, and reservations of past and coming days."""
