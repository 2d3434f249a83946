import { explain, type HostFacts } from './probe';

const none: HostFacts = { maxUserNamespaces: '100', unprivilegedClone: undefined, appArmorRestricts: undefined, seccomp: '0' };
const noNamespace =
  'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.';

describe('why the sandbox does not work', () => {
  it.each<[string, string, Partial<HostFacts>, RegExp]>([
    [
      'Docker or Kubernetes with the default seccomp profile',
      noNamespace,
      { seccomp: '2' },
      /seccomp profile forbids new namespaces: allow clone, unshare, mount/,
    ],
    ['Ubuntu 24.04', noNamespace, { appArmorRestricts: '1' }, /AppArmor forbids unprivileged user namespaces/],
    ['Debian 10', noNamespace, { unprivilegedClone: '0' }, /sysctl kernel.unprivileged_userns_clone=1/],
    ['a hardened host', noNamespace, { maxUserNamespaces: '0' }, /sysctl user.max_user_namespaces/],
    [
      'a masked /proc',
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      { seccomp: '2' },
      /procMount: Unmasked/,
    ],
    [
      'something else',
      'bwrap: execvp bash: No such file or directory',
      {},
      /could not be started \(bwrap: execvp bash: No such file/,
    ],
  ])('%s: the missing permission is named', (_title, stderr, facts, expected) => {
    expect(explain(stderr, { ...none, ...facts })).toMatch(expected);
  });
});
