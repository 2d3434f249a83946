import { NightshiftError } from '@nightshift/contracts';
import { findBeneath, type Place } from '../files/beneath';
import { readWhole, replaceWhole, sha256 } from '../files/contents';
import { answer } from './answer';
import { describeChange } from './file-change';
import type { Plan, PlanTool, ToolContext } from './tool';

export const writeFile: PlanTool<'write_file'> = async (args, context) => {
  refuseRepository(args.path);
  const place = findBeneath(context.workspace.record.path, args.path, true);
  try {
    const before = await readWhole(place);
    const hash = before && sha256(before);
    const last = context.lastSeen.get(place.path);
    if (before && last !== undefined && last !== hash) {
      throw new NightshiftError('FAILED_PRECONDITION', describeChange(place.path, context.contents.get(last), before));
    }
    const what = before ? `Replaced ${place.path} (${before.length} bytes before)` : `Created ${place.path}`;
    return planReplacement(place.path, hash ?? '', args.content, what, context);
  } finally {
    place.close();
  }
};

/** The plan of a keyed change: one file goes from one hash to another. */
export function planReplacement(path: string, beforeSha256: string, content: string, what: string, context: ToolContext): Plan {
  if (!content.isWellFormed()) throw new NightshiftError('INVALID_ARGUMENT', 'the text holds half of a surrogate pair');
  const afterSha256 = sha256(content);
  const done = answer(`${what}; now ${Buffer.byteLength(content)} bytes, ${countLines(content)} lines.`, {
    // The model wrote it, so it knows the whole content; it was not shown by a read of this generation, though.
    seen: [{ path, sha256: afterSha256, readGeneration: context.generation, readInWhole: false }],
    changes: [{ path, beforeSha256, afterSha256, kind: beforeSha256 ? 'changed' : 'created' }],
  });
  return {
    intent: { path, beforeSha256, afterSha256, done },
    perform: async () => {
      context.signal.throwIfAborted();
      const place = findBeneath(context.workspace.record.path, path, true);
      try {
        await refuseRace(place, beforeSha256);
        await replaceWhole(place, content);
        context.contents.remember(afterSha256, content);
        return done;
      } finally {
        place.close();
      }
    },
  };
}

/** The file may have changed between plan and effect (a background command writes too). */
async function refuseRace(place: Place, beforeSha256: string): Promise<void> {
  const now = await readWhole(place);
  if ((now ? sha256(now) : '') === beforeSha256) return;
  throw new NightshiftError('FAILED_PRECONDITION', `${place.path} was changed by something else at this moment; read it again`);
}

/** What git executes or obeys is not for file tools; commands in the sandbox use git itself. */
export function refuseRepository(path: string): void {
  if (path.split('/').some((part) => part.toLowerCase() === '.git')) {
    throw new NightshiftError('PERMISSION_DENIED', `${path}: files of the repository itself are changed by git commands only`);
  }
}

function countLines(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
