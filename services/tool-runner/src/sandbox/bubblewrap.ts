import { lstatSync, readlinkSync } from 'node:fs';

/** What one command may see and do. Paths are absolute and the same inside and outside. */
export interface SandboxSpec {
  /** Working tree, writable. */
  tree: string;
  /** Private directory that appears as /tmp. */
  temporary: string;
  /** Where the command starts; inside `tree`. */
  directory: string;
  /** Further paths to be read, such as a tool chain outside /usr or the objects a checkout shares. */
  readOnly: readonly string[];
  /** Paths inside `tree` that stay read-only: what the host would execute later. */
  protectedPaths: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** Unix socket of the egress proxy; without it there is no way out at all. */
  proxySocket?: string;
  /** Only when the probe found that this bwrap knows it. */
  disableUserNamespaces: boolean;
}

/** Top-level directories of the system; on merged-usr distributions most are links. */
const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt'];
/** The parts of /etc that programs need; not the whole, since as root it would show shadow and keys. */
const systemFiles = [
  'alternatives',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'passwd',
  'group',
  'nsswitch.conf',
  'hosts',
  'localtime',
  'timezone',
  'protocols',
  'services',
  'mime.types',
  'ssl/certs',
  'ssl/openssl.cnf',
  'ca-certificates.conf',
  'pki/tls/certs',
  'java-17-openjdk',
  'java-21-openjdk',
];

/** Where the proxy socket appears inside. */
export const proxySocketInside = '/run/nightshift/egress.sock';

/**
 * The arguments of bwrap up to and including `--`: new namespaces for everything, system read-only, nothing of the host's
 * home directories, run-time sockets or other workspaces.
 */
export function bubblewrapArguments(spec: SandboxSpec): string[] {
  const args = [
    '--unshare-all',
    '--unshare-user',
    '--die-with-parent',
    '--new-session',
    '--hostname',
    'sandbox',
    '--cap-drop',
    'ALL',
  ];
  if (spec.disableUserNamespaces) args.push('--disable-userns');
  for (const path of systemDirectories) args.push(...systemDirectory(path));
  for (const name of systemFiles) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  // Read-only: bwrap covers /proc/sys only where its directory looks writable, and a runner that is root could otherwise
  // change settings of the kernel (core_pattern runs programs on the host).
  args.push('--proc', '/proc', '--remount-ro', '/proc');
  args.push('--dev', '/dev', '--bind', spec.temporary, '/tmp', '--symlink', '../tmp', '/var/tmp');
  for (const path of spec.readOnly) args.push('--ro-bind', path, path);
  args.push('--bind', spec.tree, spec.tree);
  for (const path of spec.protectedPaths) args.push('--ro-bind', path, path);
  if (spec.proxySocket) args.push('--bind', spec.proxySocket, proxySocketInside);
  // Last: the root itself is a memory file system that would otherwise take files without bound.
  args.push('--remount-ro', '/', '--chdir', spec.directory, '--clearenv');
  for (const [name, value] of Object.entries(spec.environment)) args.push('--setenv', name, value);
  return [...args, '--'];
}

function systemDirectory(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}
