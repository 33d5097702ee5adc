"""Bulk exports: rows in PostgreSQL say what is to be done, workers write files part by part.

`start` asks for one, `write` is what a worker does, `sweep` puts right what workers left undone; `datasets` says what
there is, `snapshots` of which moment, `formats` how it is written; `files` keeps it, `links` hands it out, `manifest`
describes it.
"""
