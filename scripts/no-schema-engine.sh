#!/bin/sh
# Stands in for Prisma's native schema engine, which would have to be downloaded. `prisma generate` only checks that
# the file exists; everything else must fail loudly (an engine that exits 0 makes `migrate deploy` report success).
echo "schema engine not installed: migrate with 'node libs/db/dist/migrate-cli.js'" >&2
exit 97
