"""The demo data of orders: a menu with photos, and orders of today and of the past."""
