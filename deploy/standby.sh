#!/bin/bash
# Copies the primary into an empty folder, and follows it. Its application_name is the one in synchronous_standby_names.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    install -d -o postgres -g postgres -m 0700 "$PGDATA"
    until PGPASSWORD="$REPLICATION_PASSWORD" gosu postgres pg_basebackup -D "$PGDATA" -R -c fast \
        -d "host=postgres user=replicator application_name=standby"; do
        sleep 2
        find "$PGDATA" -mindepth 1 -delete
    done
    # After its promotion there is no standby to wait for.
    echo "synchronous_standby_names = ''" >>"$PGDATA/postgresql.auto.conf"
fi
exec gosu postgres postgres -c config_file=/etc/postgresql/postgresql.conf
