-- Teams, API keys and the audit log: owned by services/api.

CREATE TABLE "teams" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL,

    CONSTRAINT "teams_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "api_keys" (
    "team_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_at_ms" BIGINT NOT NULL,
    "last_used_at_ms" BIGINT NOT NULL DEFAULT 0,
    "revoked_at_ms" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("team_id","id")
);

CREATE TABLE "audit_events" (
    "team_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "at_ms" BIGINT NOT NULL,
    "key_id" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "detail" JSONB NOT NULL,

    CONSTRAINT "audit_events_pkey" PRIMARY KEY ("team_id","id")
);

CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");
