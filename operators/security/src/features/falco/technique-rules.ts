/**
 * Rules for the techniques that a SecurityAgent promises to detect, where the rules that come with Falco leave a gap:
 *
 *   T1059.004  "Terminal shell in container" asks for a terminal: `kubectl exec … -- sh -c …` has none.
 *   T1552.001  "Read sensitive file untrusted" passes shells over, and knows no tokens of service accounts and no cloud credentials.
 *   T1611      only debugfs and release_agent; namespaces and mounts are among the rules that Falco does not ship.
 *   T1053.003  not shipped.
 *
 * They stand alone: no macro or list of another file is used or redefined, so any image of Falco can load them. Each carries the id
 * of its technique as a tag, and takes exceptions by image and process under the name `known`.
 */

interface List {
  readonly list: string;
  readonly items: readonly string[];
}

interface Macro {
  readonly macro: string;
  readonly condition: string;
}

interface Rule {
  readonly rule: string;
  readonly desc: string;
  readonly condition: string;
  readonly output: string;
  readonly priority: 'WARNING' | 'NOTICE';
  readonly tags: readonly string[];
  readonly exceptions: readonly object[];
}

const exceptions = [{ name: 'known', fields: ['container.image.repository', 'proc.name'] }];

/** What tells one run from another, for whoever looks for a certain event. */
const who =
  'user=%user.name user_uid=%user.uid process=%proc.name exe=%proc.exepath command=%proc.cmdline parent=%proc.pname parent_command=%proc.pcmdline terminal=%proc.tty';

const rules: readonly Rule[] = [
  {
    rule: 'Shell Executed in Container',
    desc: 'Somebody had a shell started in a running container from outside, as kubectl exec does, with a terminal or without.',
    condition:
      'technique_execution and technique_in_container and proc.name in (technique_shells) and proc.vpid != 1 and technique_started_by_runtime',
    output: `Shell executed in a container | ${who}`,
    priority: 'NOTICE',
    tags: ['container', 'process', 'mitre_execution', 'T1059.004'],
    exceptions,
  },
  {
    rule: 'Credential File Read in Container',
    desc: 'Password hashes, or the token or keys of a service, are read by a program that people use to look at files. Failed attempts count.',
    condition:
      'technique_open_read and technique_in_container and ' +
      '((fd.name in (technique_password_files) and not proc.name in (technique_account_programs)) or ' +
      '(proc.name in (technique_file_readers) and (fd.name contains "/secrets/kubernetes.io/serviceaccount/" or ' +
      'fd.name endswith "/.aws/credentials" or fd.name endswith "/.azure/accessTokens.json" or fd.name endswith "/.kube/config" or ' +
      'fd.name endswith "/.docker/config.json" or fd.name endswith "/.netrc" or fd.name endswith "/.git-credentials" or ' +
      'fd.name endswith "/application_default_credentials.json" or fd.name contains "/.ssh/id_")))',
    output: `Credential file read in a container | file=%fd.name result=%evt.res ${who}`,
    priority: 'WARNING',
    tags: ['container', 'filesystem', 'mitre_credential_access', 'T1552.001'],
    exceptions,
  },
  {
    rule: 'Escape Tool Executed in Container',
    desc: 'A program that enters namespaces or mounts file systems was started in a container. It shows also where the kernel refuses the call.',
    condition:
      'technique_execution and technique_in_container and proc.name in (technique_escape_tools) and not proc.pname contains csi',
    output: `Tool of container escapes executed in a container | ${who}`,
    priority: 'WARNING',
    tags: ['container', 'process', 'mitre_privilege_escalation', 'T1611'],
    exceptions,
  },
  {
    rule: 'Namespace or Mount Changed in Container',
    desc: 'A process in a container mounted a file system or changed its namespaces, whatever program did it.',
    condition:
      'evt.type in (mount, fsconfig, setns, unshare) and technique_in_container and not technique_runtime and ' +
      'not proc.name in (technique_escape_tools, technique_node_agents) and not proc.name contains csi and not proc.pname contains csi',
    output: `Namespace or mount changed in a container | call=%evt.type result=%evt.res arguments=%evt.args ${who}`,
    priority: 'NOTICE',
    tags: ['container', 'process', 'mitre_privilege_escalation', 'T1611'],
    exceptions,
  },
  {
    rule: 'Schedule Cron Jobs',
    desc: 'A cron job was put in place, on a node or in a container. Failed attempts count.',
    condition:
      'not k8s.ns.name in (technique_ignored_namespaces) and ' +
      '((technique_open_write and (fd.name startswith /etc/cron or fd.name startswith /var/spool/cron) and ' +
      'not proc.name in (technique_package_managers)) or ' +
      '(technique_execution and proc.name=crontab and not proc.args startswith "-l"))',
    output: `Cron job scheduled | file=%fd.name result=%evt.res ${who}`,
    priority: 'NOTICE',
    tags: ['host', 'container', 'filesystem', 'mitre_persistence', 'T1053.003'],
    exceptions,
  },
];

const macros: readonly Macro[] = [
  {
    macro: 'technique_in_container',
    condition: '(container.id != host and not k8s.ns.name in (technique_ignored_namespaces))',
  },
  { macro: 'technique_execution', condition: '(evt.type in (execve, execveat))' },
  {
    macro: 'technique_open_read',
    condition: "(evt.type in (open, openat, openat2) and evt.is_open_read=true and fd.typechar='f')",
  },
  {
    macro: 'technique_open_write',
    condition: "(evt.type in (open, openat, openat2) and evt.is_open_write=true and fd.typechar='f')",
  },
  // A process that is put into a container has its parent outside, and may have lost it by the time that it starts a program.
  {
    macro: 'technique_started_by_runtime',
    condition: '(not proc.pname exists or proc.pname in (technique_runtimes) or proc.pname startswith "runc:")',
  },
  {
    macro: 'technique_runtime',
    condition: '(proc.name in (technique_runtimes) or proc.name startswith "runc:")',
  },
];

/** Process names end after fifteen characters. */
const lists: readonly List[] = [
  { list: 'technique_shells', items: ['ash', 'bash', 'csh', 'dash', 'fish', 'ksh', 'sh', 'tcsh', 'zsh'] },
  {
    list: 'technique_runtimes',
    items: ['containerd-shim', 'conmon', 'conmonrs', 'crio', 'crun', 'exe', 'runc', 'systemd', 'youki'],
  },
  { list: 'technique_password_files', items: ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-'] },
  {
    list: 'technique_account_programs',
    items: [
      'adduser',
      'chage',
      'chpasswd',
      'cron',
      'crond',
      'deluser',
      'groupadd',
      'login',
      'passwd',
      'sshd',
      'sshd-session',
      'su',
      'sudo',
      'unix_chkpwd',
      'useradd',
      'userdel',
      'usermod',
    ],
  },
  {
    list: 'technique_file_readers',
    items: [
      'ash',
      'awk',
      'base64',
      'bash',
      'busybox',
      'cat',
      'cp',
      'curl',
      'cut',
      'dash',
      'dd',
      'egrep',
      'find',
      'gawk',
      'grep',
      'gzip',
      'head',
      'hexdump',
      'jq',
      'less',
      'mawk',
      'more',
      'nano',
      'nc',
      'od',
      'perl',
      'scp',
      'sed',
      'sh',
      'sort',
      'strings',
      'tac',
      'tail',
      'tar',
      'tee',
      'vi',
      'vim',
      'wget',
      'xxd',
      'zip',
      'zsh',
    ],
  },
  { list: 'technique_escape_tools', items: ['chroot', 'debugfs', 'mount', 'nsenter', 'pivot_root', 'unshare'] },
  {
    list: 'technique_node_agents',
    items: [
      'antrea-agent',
      'calico-node',
      'cilium',
      'cilium-agent',
      'cilium-cni',
      'flanneld',
      'install-cni',
      'kube-proxy',
      'kubelet',
      'multus',
      'multus-daemon',
      'ovnkube',
      'tetragon',
    ],
  },
  {
    list: 'technique_package_managers',
    items: ['apk', 'cron', 'crond', 'dnf', 'dpkg', 'microdnf', 'rpm', 'yum', 'zypper'],
  },
];

/** The rules, with what they need before them, in the order in which Falco wants to read them. */
export function techniqueRules(ignoredNamespaces: readonly string[]): readonly (List | Macro | Rule)[] {
  const items = ignoredNamespaces.map((name) => JSON.stringify(name));
  return [{ list: 'technique_ignored_namespaces', items }, ...lists, ...macros, ...rules];
}
