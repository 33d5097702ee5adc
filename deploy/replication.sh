#!/bin/bash
# Runs at the primary's first start: creates the replication role, allows its connections, and makes the standby synchronous
# from the next start on.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -v password="$REPLICATION_PASSWORD" -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
CREATE ROLE replicator REPLICATION LOGIN PASSWORD :'password';
ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (standby)';
SQL
echo "host replication replicator all scram-sha-256" >>"$PGDATA/pg_hba.conf"
