import { NightshiftError } from '@nightshift/contracts';
import type { compaction, task } from '@nightshift/contracts';
import { policyWith } from '@nightshift/compaction';
import { toolNames } from '../tools/catalogue';
import { criteriaText, newCriteria } from '../tools/state-tools';
import type { ChainCandidate, StoredPolicy, TaskDetails } from './task-details';

export const defaultMaxIterations = 500;
const modes = ['', 'worktree', 'in_place', 'copy'];

/**
 * The details of a new task. Pure.
 * @throws NightshiftError INVALID_ARGUMENT that lists every fault; FAILED_PRECONDITION without any model
 */
export function draftDetails(
  request: task.CreateRequest,
  workspaceId: string,
  defaultChain: readonly ChainCandidate[],
): TaskDetails {
  const faults = faultsOf(request);
  if (faults.length > 0) throw new NightshiftError('INVALID_ARGUMENT', 'the task cannot be created as asked', { faults });
  const named = request.chain.map(({ provider, model, endpoint }) => ({ provider, model, endpoint }));
  const chain = named.length > 0 ? named : defaultChain;
  if (chain.length === 0) {
    throw new NightshiftError(
      'FAILED_PRECONDITION',
      'no model: name one in the task, or configure chains.default in nightshift.yaml',
    );
  }
  const { options, workspace } = request;
  const tools = options?.tools;
  return {
    version: 1,
    goal: request.goal,
    createdBy: request.createdBy,
    criteria: newCriteria(request.criteria),
    plan: [],
    chain,
    options: {
      maxOutputTokens: options?.maxOutputTokens ?? 0,
      system: options?.system ?? '',
      toolNames: options?.toolNames ?? [],
      compaction: policyOverrides(options?.compaction),
      tools: {
        allowedHosts: tools?.allowedHosts ?? [],
        memoryMb: tools?.memoryMb ?? 0,
        maxProcesses: tools?.maxProcesses ?? 0,
        maxOutputBytes: tools?.maxOutputBytes ?? 0,
        environmentAllow: tools?.environmentAllow ?? [],
        allowUnsandboxed: tools?.allowUnsandboxed ?? false,
      },
    },
    workspace: workspace && {
      id: workspaceId,
      directory: workspace.directory,
      gitUrl: workspace.gitUrl,
      gitRef: workspace.gitRef,
      mode: workspace.mode,
      path: '',
      baseCommit: '',
      runner: '',
      sandboxed: false,
    },
    rules: '',
    question: '',
    result: '',
    focus: '',
    receipt: undefined,
  };
}

function faultsOf(request: task.CreateRequest): string[] {
  const faults: string[] = [];
  if (request.goal.trim() === '') faults.push('goal: expected a text');
  request.criteria.forEach((text, index) => {
    if (text.trim() === '') faults.push(`criteria.${index}: expected a text`);
  });
  request.chain.forEach(({ provider, model }, index) => {
    if (provider === '' || model === '') faults.push(`chain.${index}: expected a provider and a model`);
  });
  for (const name of request.options?.toolNames ?? []) {
    if (!toolNames.includes(name))
      faults.push(`options.tool_names: there is no tool ${JSON.stringify(name)}; tools: ${toolNames.join(', ')}`);
  }
  const { workspace } = request;
  if (workspace && (workspace.directory === '') === (workspace.gitUrl === '')) {
    faults.push('workspace: expected either a directory or a git_url');
  }
  if (workspace && !modes.includes(workspace.mode))
    faults.push(`workspace.mode: expected worktree, in_place or copy, got ${JSON.stringify(workspace.mode)}`);
  try {
    policyWith(policyOverrides(request.options?.compaction));
  } catch (error) {
    faults.push(...NightshiftError.from(error).faults.map((fault) => `options.compaction.${fault}`));
  }
  return faults;
}

/** What the sender really set: numbers of 0 mean the default, the switches are taken as they are. */
export function policyOverrides(policy: compaction.Policy | undefined): StoredPolicy {
  if (!policy) return {};
  return {
    ...(policy.fraction ? { fraction: policy.fraction } : {}),
    ...(policy.cap ? { cap: policy.cap } : {}),
    ...(policy.floor ? { floor: policy.floor } : {}),
    ...(policy.defaultReserve ? { defaultReserve: policy.defaultReserve } : {}),
    ...(policy.minRetained ? { minRetained: policy.minRetained } : {}),
    tokenCompression: policy.tokenCompression,
    enabled: policy.enabled,
  };
}

/** The first message of a task: the goal, and the criteria with the ids that mark_criterion takes. */
export function firstMessage(goal: string, details: Pick<TaskDetails, 'criteria'>): string {
  if (details.criteria.length === 0) return goal;
  return `${goal}\n\nThe task is done when these criteria are met:\n${criteriaText(details.criteria)}`;
}
