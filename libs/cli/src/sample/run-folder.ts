import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const schema = z.object({
  /** Idempotency key: the same run is the same task after any interruption. */
  key: z.string(),
  taskId: z.string().optional(),
  models: z.array(z.string()),
  killed: z.string().optional(),
  finished: z.boolean(),
});
export type RunNotes = z.output<typeof schema>;

/** Everything that one run of the sample leaves: repository copy, request log of the simulator, figures, notes. */
export class RunFolder {
  constructor(readonly path: string) {}

  static all(stateDir: string): RunFolder[] {
    const folder = path.join(stateDir, 'sample');
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .sort()
      .map((name) => new RunFolder(path.join(folder, name)))
      .filter((run) => run.notes() !== undefined);
  }

  /** The run that was interrupted, to go on with it; undefined when there is none for these models. */
  static unfinished(stateDir: string, models: readonly string[]): RunFolder | undefined {
    const last = RunFolder.all(stateDir).at(-1);
    const notes = last?.notes();
    return notes && !notes.finished && notes.models.join() === models.join() ? last : undefined;
  }

  static create(stateDir: string, models: string[], nowMs: number): RunFolder {
    const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]/g, '').slice(0, 15);
    const run = new RunFolder(path.join(stateDir, 'sample', stamp));
    rmSync(run.path, { recursive: true, force: true });
    mkdirSync(run.path, { recursive: true });
    run.write({ key: `sample-${stamp}`, models, finished: false });
    return run;
  }

  notes(): RunNotes | undefined {
    const file = this.file('run.json');
    return existsSync(file) ? schema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data : undefined;
  }

  write(notes: RunNotes): void {
    writeFileSync(this.file('run.json'), JSON.stringify(notes, null, 2));
  }

  note(change: Partial<RunNotes>): void {
    const notes = this.notes();
    if (notes) this.write({ ...notes, ...change });
  }

  file(name: string): string {
    return path.join(this.path, name);
  }

  get repository(): string {
    return this.file('repository');
  }
  get requestLog(): string {
    return this.file('requests.jsonl');
  }
  get metrics(): string {
    return this.file('metrics');
  }
}
