"""Bulk exports: rows in PostgreSQL say what is to be done, workers write files part by part.

`start` asks for one, `write` is what a worker does, `sweep` puts right what workers left undone; `rows` reads the
catalogue, `files` keeps what was written, `links` hands it out, `manifest` describes it.
"""
