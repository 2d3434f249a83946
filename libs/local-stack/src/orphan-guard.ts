import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/**
 * A shell that reads process ids on its input and signals those still listed when the input ends, which happens however
 * the parent dies (kill -9 included). It ignores the terminal's signals, since it has to outlive the parent.
 * Lines: `+ SIGNAL PID`, `- SIGNAL PID`.
 */
const script = `
trap '' INT TERM HUP
list=" "
while read -r op signal pid; do
  case "$op" in
    +) list="$list$signal:$pid " ;;
    -) list=$(printf '%s' "$list" | sed "s/ $signal:$pid / /") ;;
  esac
done
for entry in $list; do kill -"\${entry%%:*}" "\${entry##*:}" 2>/dev/null; done
tries=0
while [ $tries -lt 100 ]; do
  alive=""
  for entry in $list; do kill -0 "\${entry##*:}" 2>/dev/null && alive=yes; done
  [ -z "$alive" ] && exit 0
  tries=$((tries + 1)); sleep 0.1
done
for entry in $list; do kill -KILL "\${entry##*:}" 2>/dev/null; done
`;

let guard: ChildProcess | undefined;

function running(): ChildProcess {
  if (guard && guard.exitCode === null && guard.signalCode === null) return guard;
  guard = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.unref();
  const input = guard.stdin;
  // The pipe alone must not keep the parent's event loop alive; a dead guard is replaced at the next use.
  if (input && 'unref' in input && typeof input.unref === 'function') input.unref();
  input?.on('error', () => undefined);
  return guard;
}

/** From now on `pid` gets `signal` (without SIG) when this process dies, and SIGKILL ten seconds later. */
export function guardAgainstOrphan(pid: number, signal: 'TERM' | 'INT' = 'TERM'): () => void {
  running().stdin?.write(`+ ${signal} ${pid}\n`);
  return () => {
    guard?.stdin?.write(`- ${signal} ${pid}\n`);
  };
}
