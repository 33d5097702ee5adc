#!/bin/bash
# Copies the primary where there is nothing yet, and follows it. Its name is what synchronous_standby_names waits for.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    install -d -o postgres -g postgres -m 0700 "$PGDATA"
    until PGPASSWORD="$REPLICATION_PASSWORD" gosu postgres pg_basebackup -D "$PGDATA" -R -c fast \
        -d "host=postgres user=replicator application_name=standby"; do
        sleep 2
        find "$PGDATA" -mindepth 1 -delete
    done
    # Once it is the primary there is nobody for whom it should wait.
    echo "synchronous_standby_names = ''" >>"$PGDATA/postgresql.auto.conf"
fi
exec gosu postgres postgres -c config_file=/etc/postgresql/postgresql.conf
