import { Inject, Injectable } from '@nestjs/common';
import { Pool } from '@nightshift/db';
import { nameKey } from './window-rows';
import type { KnownModel, LearnedRow, ModelName, OverrideRow, WindowRow } from './window-rows';

const windowColumns = `provider, endpoint, model, source, "window", input_max as "inputMax", output_max as "outputMax",
  trained_max as "trainedMax", modelfile_num_ctx as "modelfileNumCtx", loaded, cloud, note, observed_at as "observedAt", seen_at as "seenAt"`;
const learnedColumns = `provider, endpoint, model, kind, tokens, exactness, sightings, against,
  accepted_tokens as "acceptedTokens", text, "at"`;
const overrideColumns = `team_id as "teamId", provider, endpoint, model, "window", input_max as "inputMax",
  output_max as "outputMax", num_ctx as "numCtx", set_at as "setAt"`;

/** Figures of one poll; what a poll does not say keeps its last value. */
export interface PolledFigures {
  model: string;
  window?: number;
  inputMax?: number;
  outputMax?: number;
  trainedMax?: number;
  modelfileNumCtx?: number;
  loaded: boolean;
  cloud: boolean;
  note: string;
}

export interface AllKnown {
  windows: WindowRow[];
  learned: LearnedRow[];
  overrides: OverrideRow[];
}

@Injectable()
export class WindowStore {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  async one(name: ModelName, team?: string): Promise<KnownModel> {
    const key = [name.provider, name.endpoint, name.model];
    const where = 'where provider = $1 and endpoint = $2 and model = $3';
    const [windows, learned, overrides] = await Promise.all([
      this.pool.query<WindowRow>(`select ${windowColumns} from model_windows ${where}`, key),
      this.pool.query<LearnedRow>(`select ${learnedColumns} from learned_limits ${where}`, key),
      team === undefined
        ? undefined
        : this.pool.query<OverrideRow>(`select ${overrideColumns} from window_overrides ${where} and team_id = $4`, [
            ...key,
            team,
          ]),
    ]);
    return gather(name, windows.rows, learned.rows, overrides?.rows[0]);
  }

  /** The overrides of one model, of every team. */
  async overridesOf(name: ModelName): Promise<OverrideRow[]> {
    const found = await this.pool.query<OverrideRow>(
      `select ${overrideColumns} from window_overrides where provider = $1 and endpoint = $2 and model = $3`,
      [name.provider, name.endpoint, name.model],
    );
    return found.rows;
  }

  async all(): Promise<AllKnown> {
    const [windows, learned, overrides] = await Promise.all([
      this.pool.query<WindowRow>(`select ${windowColumns} from model_windows`),
      this.pool.query<LearnedRow>(`select ${learnedColumns} from learned_limits`),
      this.pool.query<OverrideRow>(`select ${overrideColumns} from window_overrides`),
    ]);
    return { windows: windows.rows, learned: learned.rows, overrides: overrides.rows };
  }

  /** Writes one poll in one statement. A model that is not loaded keeps the window it was served with. */
  async savePoll(place: Omit<ModelName, 'model'>, source: 'served' | 'list', figures: readonly PolledFigures[]): Promise<void> {
    if (figures.length === 0) return;
    await this.pool.query(
      `insert into model_windows
         (provider, endpoint, source, model, "window", input_max, output_max, trained_max, modelfile_num_ctx, loaded, cloud, note)
       select $1, $2, $3, * from unnest($4::text[], $5::int[], $6::int[], $7::int[], $8::int[], $9::int[], $10::bool[], $11::bool[], $12::text[])
       on conflict (provider, endpoint, model, source) do update set
         "window" = coalesce(excluded."window", model_windows."window"),
         input_max = coalesce(excluded.input_max, model_windows.input_max),
         output_max = coalesce(excluded.output_max, model_windows.output_max),
         trained_max = coalesce(excluded.trained_max, model_windows.trained_max),
         modelfile_num_ctx = excluded.modelfile_num_ctx,
         loaded = excluded.loaded, cloud = excluded.cloud, note = excluded.note, seen_at = now(),
         observed_at = case when excluded."window" is null then model_windows.observed_at else now() end`,
      [
        place.provider,
        place.endpoint,
        source,
        figures.map((each) => each.model),
        figures.map((each) => each.window ?? null),
        figures.map((each) => each.inputMax ?? null),
        figures.map((each) => each.outputMax ?? null),
        figures.map((each) => each.trainedMax ?? null),
        figures.map((each) => each.modelfileNumCtx ?? null),
        figures.map((each) => each.loaded),
        figures.map((each) => each.cloud),
        figures.map((each) => each.note),
      ],
    );
  }

  /** Remembers that somebody uses this model, so that it is published after a restart too. */
  async noteAsked(name: ModelName): Promise<void> {
    await this.pool.query(
      `insert into model_windows (provider, endpoint, model, source) values ($1, $2, $3, 'asked')
       on conflict (provider, endpoint, model, source) do nothing`,
      [name.provider, name.endpoint, name.model],
    );
  }

  async saveOverride(row: Omit<OverrideRow, 'setAt'>): Promise<void> {
    const { teamId, provider, endpoint, model, window, inputMax, outputMax, numCtx } = row;
    await this.pool.query(
      `insert into window_overrides (team_id, provider, endpoint, model, "window", input_max, output_max, num_ctx)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (team_id, provider, endpoint, model) do update set "window" = excluded."window", input_max = excluded.input_max,
         output_max = excluded.output_max, num_ctx = excluded.num_ctx, set_at = now()`,
      [teamId, provider, endpoint, model, window, inputMax, outputMax, numCtx],
    );
  }

  async removeOverride(team: string, name: ModelName): Promise<void> {
    await this.pool.query('delete from window_overrides where team_id = $1 and provider = $2 and endpoint = $3 and model = $4', [
      team,
      name.provider,
      name.endpoint,
      name.model,
    ]);
  }
}

function gather(name: ModelName, windows: WindowRow[], learned: LearnedRow[], override: OverrideRow | undefined): KnownModel {
  const served = windows.find((row) => row.source === 'served');
  const list = windows.find((row) => row.source === 'list');
  return { name, learned, ...(served ? { served } : {}), ...(list ? { list } : {}), ...(override ? { override } : {}) };
}

/** Groups all rows by model; overrides stay apart, since each makes a window of its own. */
export function groupKnown(all: AllKnown): Map<string, KnownModel> {
  const grouped = new Map<string, { name: ModelName; windows: WindowRow[]; learned: LearnedRow[] }>();
  const of = ({ provider, endpoint, model }: ModelName): { windows: WindowRow[]; learned: LearnedRow[] } => {
    const name = { provider, endpoint, model };
    const found = grouped.get(nameKey(name)) ?? { name, windows: [], learned: [] };
    grouped.set(nameKey(name), found);
    return found;
  };
  for (const row of all.windows) of(row).windows.push(row);
  for (const row of all.learned) of(row).learned.push(row);
  for (const row of all.overrides) of(row);
  return new Map([...grouped].map(([key, { name, windows, learned }]) => [key, gather(name, windows, learned, undefined)]));
}
