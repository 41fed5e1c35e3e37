#!/usr/bin/env bash
# Runs the replica: copies the primary at the first start, then follows it. Expects PGPASSWORD, that of the role replicator.
set -euo pipefail
# The mark comes last: a copy that was broken off has a version already, and is begun again.
if [[ ! -e "$PGDATA/copied" ]]; then
  rm -rf "${PGDATA:?}"/*
  pg_basebackup --host=postgres --username=replicator --slot=replica --checkpoint=fast \
    --write-recovery-conf --pgdata="$PGDATA"
  touch "$PGDATA/copied"
fi
chmod 0700 "$PGDATA"
exec postgres -c config_file=/etc/postgresql/ladder.conf
