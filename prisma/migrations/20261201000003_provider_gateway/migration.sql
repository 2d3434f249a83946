-- Model calls and their attempts. Only the provider gateway writes here.

-- One row per logical call: the claim that keeps it from being paid for twice, and its answer for a while.
CREATE TABLE "llm_calls" (
    "team_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "purpose" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "owner" TEXT NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "answer" BYTEA,

    CONSTRAINT "llm_calls_pkey" PRIMARY KEY ("team_id", "task_id", "epoch", "purpose", "request_hash")
);
-- Protobuf of a whole answer: read back whole, and seldom.
ALTER TABLE "llm_calls" ALTER COLUMN "answer" SET STORAGE EXTERNAL;
CREATE INDEX "llm_calls_running_idx" ON "llm_calls"("lease_until") WHERE "state" = 'running';
CREATE INDEX "llm_calls_answer_idx" ON "llm_calls"("ended_at") WHERE "answer" IS NOT NULL;
-- Only for the removal of old rows, which stand together: next to no cost per insert.
CREATE INDEX "llm_calls_started_idx" ON "llm_calls" USING BRIN ("started_at");

-- One row per call to a provider, also for those that failed, were stopped or were lost with their process.
CREATE TABLE "llm_attempts" (
    "team_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "purpose" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "error_code" TEXT NOT NULL DEFAULT '',
    "message" TEXT NOT NULL DEFAULT '',
    "why" TEXT NOT NULL DEFAULT '',
    "http_status" INTEGER NOT NULL DEFAULT 0,
    "wait_ms" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,
    "input_total" INTEGER NOT NULL DEFAULT 0,
    "cache_read" INTEGER NOT NULL DEFAULT 0,
    "cache_write" INTEGER NOT NULL DEFAULT 0,
    "output_total" INTEGER NOT NULL DEFAULT 0,
    "reasoning" INTEGER NOT NULL DEFAULT 0,
    "usage_source" INTEGER NOT NULL DEFAULT 0,
    "silently_truncated" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "llm_attempts_pkey" PRIMARY KEY ("team_id", "task_id", "epoch", "purpose", "request_hash", "number")
);
CREATE INDEX "llm_attempts_task_idx" ON "llm_attempts"("team_id", "task_id", "started_at");
CREATE INDEX "llm_attempts_age_idx" ON "llm_attempts" USING BRIN ("started_at");
