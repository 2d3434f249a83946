-- Tool results: who may see which bytes, and the bytes, once per team. Only the tool-result store writes here.

-- The bytes, content-addressed. `content` is the first 256 KiB; what is longer continues in the chunks.
-- `encoding`: 0 as is, 1 raw deflate.
CREATE TABLE "tool_result_blobs" (
    "team_id" TEXT NOT NULL,
    "sha256" BYTEA NOT NULL,
    "bytes" INTEGER NOT NULL,
    "stored_bytes" INTEGER NOT NULL,
    "encoding" SMALLINT NOT NULL,
    "content" BYTEA NOT NULL,
    "touched_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tool_result_blobs_pkey" PRIMARY KEY ("team_id", "sha256")
) WITH (fillfactor = 80);
-- Already compressed: Postgres must not try again.
ALTER TABLE "tool_result_blobs" ALTER COLUMN "content" SET STORAGE EXTERNAL;

CREATE TABLE "tool_result_chunks" (
    "team_id" TEXT NOT NULL,
    "sha256" BYTEA NOT NULL,
    "position" INTEGER NOT NULL,
    "encoding" SMALLINT NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "tool_result_chunks_pkey" PRIMARY KEY ("team_id", "sha256", "position"),
    CONSTRAINT "tool_result_chunks_blob_fkey" FOREIGN KEY ("team_id", "sha256") REFERENCES "tool_result_blobs"("team_id", "sha256") ON DELETE CASCADE ON UPDATE CASCADE
);
ALTER TABLE "tool_result_chunks" ALTER COLUMN "content" SET STORAGE EXTERNAL;

-- The references. All tasks of one root share them.
CREATE TABLE "tool_results" (
    "team_id" TEXT NOT NULL,
    "root_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "call_id" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "source_path" TEXT NOT NULL,
    "source_sha256" TEXT NOT NULL,
    "sha256" BYTEA NOT NULL,
    "bytes" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tool_results_pkey" PRIMARY KEY ("team_id", "root_id", "id"),
    -- The collector deletes only blobs without reference; this makes a mistake there an error instead of a loss.
    CONSTRAINT "tool_results_blob_fkey" FOREIGN KEY ("team_id", "sha256") REFERENCES "tool_result_blobs"("team_id", "sha256") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "tool_results_blob_idx" ON "tool_results"("team_id", "sha256");

-- Roots that have ended; a root without a row here is live and never touched by retention.
CREATE TABLE "tool_result_roots" (
    "team_id" TEXT NOT NULL,
    "root_id" TEXT NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_result_roots_pkey" PRIMARY KEY ("team_id", "root_id")
);
CREATE INDEX "tool_result_roots_ended_idx" ON "tool_result_roots"("team_id", "ended_at");

CREATE INDEX "tool_result_blobs_touched_idx" ON "tool_result_blobs"("touched_at");
