interface SeatbeltSpec {
  tree: string;
  temporary: string;
  readOnly: readonly string[];
}

/**
 * Profile for macOS `sandbox-exec`: reads of the system, writes to the workspace and its temporary directory, no network.
 * Written from the documentation of the format; it was not tried on a Mac (docs/sandbox.md says so).
 */
export function seatbeltProfile(spec: SeatbeltSpec): string {
  const readable = [
    '/usr',
    '/bin',
    '/sbin',
    '/System',
    '/Library',
    '/opt',
    '/private/etc',
    '/private/var/db',
    '/dev',
    ...spec.readOnly,
  ];
  const writable = [spec.tree, spec.temporary];
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-fork)',
    '(allow process-exec)',
    '(allow signal (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    '(allow file-read-metadata)',
    `(allow file-read* ${[...readable, ...writable].map(subpath).join(' ')} (literal "/"))`,
    `(allow file-write* ${writable.map(subpath).join(' ')} (literal "/dev/null") (literal "/dev/tty"))`,
    '(deny network*)',
  ].join('\n');
}

function subpath(path: string): string {
  return `(subpath ${JSON.stringify(path)})`;
}
