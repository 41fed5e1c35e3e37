#!/usr/bin/env bash
# Runs the replica: copies the primary at the first start, then follows it. Expects PGPASSWORD, that of the role replicator.
set -euo pipefail
if [[ ! -s "$PGDATA/PG_VERSION" ]]; then
  rm -rf "${PGDATA:?}"/*
  pg_basebackup --host=postgres --username=replicator --slot=replica --checkpoint=fast \
    --write-recovery-conf --pgdata="$PGDATA"
fi
chmod 0700 "$PGDATA"
exec postgres -c config_file=/etc/postgresql/ladder.conf
