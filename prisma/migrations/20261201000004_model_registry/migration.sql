-- What is known about the windows of models, by source. Only the model registry writes here. Tokens everywhere.

-- What a server or a vendor's list said (`served`, `list`), and models that were asked for (`asked`, no figures).
CREATE TABLE "model_windows" (
    "provider" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "window" INTEGER,
    "input_max" INTEGER,
    "output_max" INTEGER,
    "trained_max" INTEGER,
    "modelfile_num_ctx" INTEGER,
    "loaded" BOOLEAN NOT NULL DEFAULT true,
    "cloud" BOOLEAN NOT NULL DEFAULT false,
    "note" TEXT NOT NULL DEFAULT '',
    "observed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "model_windows_pkey" PRIMARY KEY ("provider", "endpoint", "model", "source")
);

-- Limits that an endpoint stated itself. Several figures may stand side by side until one is believed.
CREATE TABLE "learned_limits" (
    "provider" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "tokens" INTEGER NOT NULL,
    "exactness" TEXT NOT NULL,
    "sightings" INTEGER NOT NULL DEFAULT 1,
    "against" INTEGER,
    "accepted_tokens" INTEGER,
    "text" TEXT NOT NULL DEFAULT '',
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "learned_limits_pkey" PRIMARY KEY ("provider", "endpoint", "model", "kind", "tokens")
);

CREATE TABLE "window_overrides" (
    "team_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "window" INTEGER,
    "input_max" INTEGER,
    "output_max" INTEGER,
    "num_ctx" INTEGER,
    "set_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "window_overrides_pkey" PRIMARY KEY ("team_id", "provider", "endpoint", "model")
);

CREATE TABLE "provider_endpoints" (
    "provider" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT NOT NULL DEFAULT '',
    "server_version" TEXT NOT NULL DEFAULT '',
    "last_ok_at" TIMESTAMPTZ(3),
    "last_try_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_endpoints_pkey" PRIMARY KEY ("provider", "endpoint")
);
