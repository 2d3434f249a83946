import { NightshiftError } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import type { Case, PassSpec, Step, TaskSpec } from './case';
import type { Engine, PassAsked, Session } from './engine';
import { differences } from './expectation';
import { appendEntries, filesFrom, pinnedFrom, textFrom, toolsFrom } from './notation';
import { passFacts, viewFacts } from './observe';

export interface CaseResult {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly faults: readonly string[];
}

export interface KitReport {
  readonly engine: string;
  readonly results: readonly CaseResult[];
  readonly byKind: Readonly<Record<string, { passed: number; failed: number; skipped: number }>>;
}

/** Runs every case on an engine. A case that throws has failed; it never ends the run. */
export async function runCases(cases: readonly Case[], engine: Engine): Promise<KitReport> {
  const results: CaseResult[] = [];
  const byKind: Record<string, { passed: number; failed: number; skipped: number }> = {};
  for (const one of cases) {
    const result = await runCase(one, engine);
    results.push(result);
    const counts = (byKind[one.kind] ??= { passed: 0, failed: 0, skipped: 0 });
    counts[result.status]++;
  }
  return { engine: engine.name, results, byKind };
}

export async function runCase(given: Case, engine: Engine): Promise<CaseResult> {
  const about = { id: given.id, kind: given.kind, title: given.title };
  try {
    const faults = await new CaseRun(given, engine).play();
    if (faults === 'skipped') return { ...about, status: 'skipped', faults: [] };
    return { ...about, status: faults.length === 0 ? 'passed' : 'failed', faults };
  } catch (thrown) {
    return { ...about, status: 'failed', faults: [`threw ${NightshiftError.from(thrown).message}`] };
  }
}

/** What holds after every pass that was committed, unless the case expects otherwise. */
const always = { violations: { anthropic: 0, openaiChat: 0, openaiResponses: 0 }, lost: 0, alteredReasoning: 0 };

class CaseRun {
  private readonly entries: transcript.Entry[] = [];
  private readonly session: Session;
  private readonly observed: object[] = [];

  constructor(
    private readonly given: Case,
    private readonly engine: Engine,
  ) {
    const task = given.task ?? {};
    this.session = engine.open({
      system: textFrom(task.system ?? 'You are an agent.'),
      tools: toolsFrom(task.tools ?? []),
      goalAndPlan: pinnedFrom(task.pinned ?? []),
    });
    appendEntries(this.entries, given.transcript ?? []);
  }

  async play(): Promise<string[] | 'skipped'> {
    const faults: string[] = [];
    for (const [i, step] of this.given.steps.entries()) {
      const found = await this.step(step);
      if (found === 'skipped') return 'skipped';
      faults.push(...found.map((fault) => `step ${i}: ${fault}`));
    }
    return faults;
  }

  private async step(step: Step): Promise<string[] | 'skipped'> {
    if ('append' in step) {
      appendEntries(this.entries, step.append);
      this.observed.push({});
      return [];
    }
    if ('undo' in step) {
      if (!this.session.undo) return 'skipped';
      this.session.undo();
      this.observed.push({});
      return [];
    }
    if ('ask' in step) {
      const ask = this.engine.questions[step.ask];
      if (!ask) return 'skipped';
      return this.compare((await ask(step.input)) as object, step.expect);
    }
    if ('view' in step) return this.compare(await viewFacts(this.session, this.entries), step.expect);
    return this.passes(step);
  }

  private async passes(step: Extract<Step, { pass: PassSpec }>): Promise<string[]> {
    const faults: string[] = [];
    for (let time = 0; time < (step.times ?? 1); time++) {
      const said = await this.session.pass(this.entries, askedOf(this.given.task ?? {}, step.pass));
      const seen = { ...passFacts(said), ...(await viewFacts(this.session, this.entries)) };
      const expected = { ...(said.committed ? always : {}), ...(step.expect as object | undefined) };
      faults.push(...this.compare(seen, expected));
      if (said.committed && said.before !== undefined && said.after !== undefined && said.after >= said.before) {
        faults.push(`committed ${said.after} tokens after ${said.before}`);
      }
    }
    return faults;
  }

  private compare(seen: object, expected: unknown): string[] {
    this.observed.push(seen);
    return differences(seen, expected, { ...seen, steps: this.observed });
  }
}

const defaults: PassAsked = {
  window: 200_000,
  inputMax: 0,
  outputMax: 0,
  maxOutput: 0,
  policy: {},
  reason: 'threshold',
  measured: 0,
  files: [],
  handles: [],
  summarizer: 'extractive',
  summarizerWindow: 0,
  onDevice: 'none',
  failedSummaries: { inARow: 0, atTokens: 0 },
  store: 'none',
  limits: {},
  imagesOnly: false,
  focus: '',
};

function askedOf(task: TaskSpec, pass: PassSpec): PassAsked {
  const { system: _system, tools: _tools, pinned: _pinned, files: _files, handles: _handles, ...settings } = task;
  const { files = task.files ?? [], handles = task.handles ?? [], ...own } = pass;
  return { ...defaults, ...settings, ...own, files: filesFrom(files), handles: pinnedFrom(handles) };
}
