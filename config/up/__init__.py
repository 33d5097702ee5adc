"""`manage.py up`: start everything and keep it running."""
