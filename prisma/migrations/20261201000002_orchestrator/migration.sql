-- Tasks, their transcript and the effect ledger. Only the orchestrator writes here.

-- The hot row of a task: rewritten once per recorded outcome, so it stays below 2 KB and leaves room on its page.
CREATE TABLE "tasks" (
    "team_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "parent_id" UUID,
    "root_id" UUID NOT NULL,
    "state" SMALLINT NOT NULL,
    "pending" SMALLINT NOT NULL,
    "reason" TEXT NOT NULL DEFAULT '',
    "epoch" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3),
    "publish_count" INTEGER NOT NULL DEFAULT 0,
    "lease_owner" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "step_attempts" SMALLINT NOT NULL DEFAULT 0,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "last_seq" INTEGER NOT NULL DEFAULT 0,
    "last_event_seq" INTEGER NOT NULL DEFAULT 0,
    "iterations" INTEGER NOT NULL DEFAULT 0,
    "tool_calls" INTEGER NOT NULL DEFAULT 0,
    "threshold_hits" INTEGER NOT NULL DEFAULT 0,
    "chain_position" SMALLINT NOT NULL DEFAULT 0,
    "pass_id" UUID,
    "details_version" INTEGER NOT NULL DEFAULT 1,
    "pause_requested" BOOLEAN NOT NULL DEFAULT false,
    "compact_requested" BOOLEAN NOT NULL DEFAULT false,
    "memory" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "tasks_pkey" PRIMARY KEY ("team_id", "id")
) WITH (fillfactor = 70);

CREATE INDEX "tasks_root_idx" ON "tasks"("team_id", "root_id");
CREATE INDEX "tasks_due_idx" ON "tasks"("due_at") WHERE "due_at" IS NOT NULL;

-- What is read by a step and changes seldom. `version` equals tasks.details_version.
CREATE TABLE "task_details" (
    "team_id" TEXT NOT NULL,
    "task_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "goal" TEXT NOT NULL,
    "created_by" TEXT NOT NULL DEFAULT '',
    "criteria" JSONB NOT NULL,
    "plan" JSONB NOT NULL,
    "chain" JSONB NOT NULL,
    "options" JSONB NOT NULL,
    "workspace" JSONB NOT NULL,
    "rules" TEXT NOT NULL DEFAULT '',
    "question" TEXT NOT NULL DEFAULT '',
    "result" TEXT NOT NULL DEFAULT '',
    "focus" TEXT NOT NULL DEFAULT '',
    "receipt" JSONB,

    CONSTRAINT "task_details_pkey" PRIMARY KEY ("team_id", "task_id"),
    CONSTRAINT "task_details_task_fkey" FOREIGN KEY ("team_id", "task_id") REFERENCES "tasks"("team_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- Append-only transcript; `body` is a protobuf Entry.
CREATE TABLE "task_entries" (
    "team_id" TEXT NOT NULL,
    "task_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    "estimated_tokens" INTEGER NOT NULL,
    "body" BYTEA NOT NULL,

    CONSTRAINT "task_entries_pkey" PRIMARY KEY ("team_id", "task_id", "seq")
);
-- Entries are read whole and are incompressible to Postgres' cheap codec: no time spent on trying.
ALTER TABLE "task_entries" ALTER COLUMN "body" SET STORAGE EXTERNAL;

-- Messages for a task that wait for a place where no tool call is open. Never touches the epoch.
CREATE TABLE "task_inbox" (
    "team_id" TEXT NOT NULL,
    "task_id" UUID NOT NULL,
    "message_id" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "delivered_seq" INTEGER,
    "body" BYTEA NOT NULL,

    CONSTRAINT "task_inbox_pkey" PRIMARY KEY ("team_id", "task_id", "message_id")
);
CREATE INDEX "task_inbox_waiting_idx" ON "task_inbox"("team_id", "task_id", "position") WHERE "delivered_seq" IS NULL;

-- Every pass with its report; a committed one carries the checkpoint of its generation.
CREATE TABLE "task_checkpoints" (
    "team_id" TEXT NOT NULL,
    "task_id" UUID NOT NULL,
    "pass_id" UUID NOT NULL,
    "generation" INTEGER,
    "reason" SMALLINT NOT NULL,
    "outcome" SMALLINT NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "claimed_at" TIMESTAMPTZ(3),
    "worker" TEXT NOT NULL DEFAULT '',
    "ended_at" TIMESTAMPTZ(3),
    "measured" INTEGER NOT NULL DEFAULT 0,
    "last_seq" INTEGER NOT NULL DEFAULT 0,
    "undoes" INTEGER NOT NULL DEFAULT 0,
    "report" BYTEA,
    "checkpoint" BYTEA,

    CONSTRAINT "task_checkpoints_pkey" PRIMARY KEY ("team_id", "task_id", "pass_id")
);
CREATE UNIQUE INDEX "task_checkpoints_generation_key" ON "task_checkpoints"("team_id", "task_id", "generation");
ALTER TABLE "task_checkpoints" ALTER COLUMN "checkpoint" SET STORAGE EXTERNAL;

-- The effect ledger: one row per tool call, intended before anything runs.
CREATE TABLE "tool_calls" (
    "team_id" TEXT NOT NULL,
    "task_id" UUID NOT NULL,
    "call_id" UUID NOT NULL,
    "provider_id" TEXT NOT NULL,
    "entry_seq" INTEGER NOT NULL,
    "position" SMALLINT NOT NULL,
    "wave" SMALLINT NOT NULL,
    "tool" TEXT NOT NULL,
    "place" TEXT NOT NULL,
    "effect" SMALLINT NOT NULL,
    "state" TEXT NOT NULL,
    "arguments_json" TEXT NOT NULL,
    "runner" TEXT NOT NULL DEFAULT '',
    "publish_count" SMALLINT NOT NULL DEFAULT 0,
    "intended_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "ms" INTEGER NOT NULL DEFAULT 0,
    "changes" JSONB NOT NULL DEFAULT '[]',
    "result" BYTEA,

    CONSTRAINT "tool_calls_pkey" PRIMARY KEY ("team_id", "task_id", "call_id")
) WITH (fillfactor = 80);
CREATE INDEX "tool_calls_entry_idx" ON "tool_calls"("team_id", "task_id", "entry_seq", "position");

-- Files a task has read or written: the edit gate, and the source of the re-injected block.
CREATE TABLE "task_files" (
    "team_id" TEXT NOT NULL,
    "task_id" UUID NOT NULL,
    "path" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "read_generation" INTEGER NOT NULL DEFAULT 0,
    "read_in_whole" BOOLEAN NOT NULL DEFAULT false,
    "edited_at" TIMESTAMPTZ(3),
    "edited_seq" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "task_files_pkey" PRIMARY KEY ("team_id", "task_id", "path")
);

CREATE TABLE "task_events" (
    "team_id" TEXT NOT NULL,
    "task_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "kind" TEXT NOT NULL,
    "data_json" TEXT NOT NULL,

    CONSTRAINT "task_events_pkey" PRIMARY KEY ("team_id", "task_id", "seq")
);

CREATE TABLE "task_idempotency_keys" (
    "team_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "task_id" UUID NOT NULL,
    "request_sha256" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "task_idempotency_keys_pkey" PRIMARY KEY ("team_id", "key")
);

-- One row per orchestrator process, not per task: a lease lives as long as its owner's heartbeat.
CREATE TABLE "worker_heartbeats" (
    "owner" TEXT NOT NULL,
    "alive_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "worker_heartbeats_pkey" PRIMARY KEY ("owner")
);

-- Tool runners are machines of the platform, not of a team.
CREATE TABLE "runners" (
    "id" TEXT NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,
    "sandboxed" BOOLEAN NOT NULL,
    "sandbox_reason" TEXT NOT NULL DEFAULT '',
    "allowed_roots" JSONB NOT NULL,
    "slots" INTEGER NOT NULL,
    "announced_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "runners_pkey" PRIMARY KEY ("id")
);

-- Which runner holds which workspace, and for which task.
CREATE TABLE "workspaces" (
    "team_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "task_id" UUID NOT NULL,
    "runner" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "workspaces_pkey" PRIMARY KEY ("team_id", "id")
);
CREATE INDEX "workspaces_runner_idx" ON "workspaces"("runner", "id");

CREATE TABLE "dead_letters" (
    "team_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "stream" TEXT NOT NULL,
    "consumer" TEXT NOT NULL,
    "stream_seq" BIGINT NOT NULL,
    "task_id" TEXT NOT NULL DEFAULT '',
    "route" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "deliveries" INTEGER NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "headers" JSONB NOT NULL,
    "body" BYTEA NOT NULL,

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("team_id", "id")
);
CREATE UNIQUE INDEX "dead_letters_source_key" ON "dead_letters"("team_id", "stream", "consumer", "stream_seq");
