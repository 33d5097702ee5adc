"""Bulk exports: rows in PostgreSQL hold the state of a job, workers write its files part by part.

`requests` orders, quotes and describes exports; `jobs` runs them; `datasets` is the SQL of what can be exported;
`formats` writes files, `storage` keeps them, `downloads` hands them out.
"""
