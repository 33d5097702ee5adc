"""Backups by pg_dump and pg_restore: a folder with a dump, the files of exports and photos, and a manifest."""
