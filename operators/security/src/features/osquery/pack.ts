/**
 * What osquery is asked about a node. Tables and columns are those of osquery 5.17 (https://osquery.io/schema/5.17.0); a test gives
 * every query to SQLite with exactly these tables.
 *
 * Results are differential: a row is written when it appears and when it goes. So nothing is selected that changes by itself
 * (counters, sizes, start times computed anew), and nothing that may hold a secret (the environment of a container).
 */

/** How often a query runs, as a multiple of `config.interval`: 5 minutes, 1 hour and 24 hours by default. */
const paces = { often: 1, hourly: 12, daily: 288 } as const;

export interface InventoryQuery {
  readonly query: string;
  readonly pace: keyof typeof paces;
  readonly description: string;
}

export interface Pack {
  /** The pack runs only where this finds a row: not every node has every package manager. */
  readonly discovery?: string;
  readonly queries: Readonly<Record<string, InventoryQuery>>;
}

/** osquery takes no interval above a week. */
export const LONGEST_INTERVAL = 604_800;

/** Seconds between two runs. */
export function intervalOf(pace: keyof typeof paces, interval: number): number {
  return Math.min(interval * paces[pace], LONGEST_INTERVAL);
}

/** Interfaces of pods come and go with them: the network plugins call them so. */
const noPodInterfaces = ['veth%', 'cali%', 'lxc%', 'cni%', 'gke%', 'azv%', 'eni%']
  .map((pattern) => `interface NOT LIKE '${pattern}'`)
  .join(' AND ');

/** Mounts of pods and containers come and go with them, and osquery has some of its own. */
const noPodMounts = [
  '/var/lib/kubelet/pods/%',
  '/run/containerd/%',
  '/run/netns/%',
  '/var/lib/%/overlay%',
  '/var/log/security/%',
]
  .map((pattern) => `path NOT LIKE '${pattern}'`)
  .join(' AND ');

/** By name of the pack; a result is called `pack_<pack>_<query>`. */
export const packs: Readonly<Record<string, Pack>> = {
  inventory: {
    queries: {
      os_version: {
        query:
          'SELECT name, version, major, minor, patch, build, platform, platform_like, codename, arch FROM os_version',
        pace: 'hourly',
        description: 'The distribution of the node.',
      },
      kernel: {
        query: 'SELECT version, arguments FROM kernel_info',
        pace: 'hourly',
        description: 'The kernel and how it was started.',
      },
      system: {
        query:
          'SELECT hostname, uuid, cpu_type, cpu_brand, cpu_physical_cores, cpu_logical_cores, cpu_microcode, physical_memory, ' +
          'hardware_vendor, hardware_model, hardware_version, hardware_serial FROM system_info',
        pace: 'daily',
        description: 'The machine.',
      },
      users: {
        query: 'SELECT uid, gid, username, description, directory, shell FROM users',
        pace: 'hourly',
        description: 'Local accounts.',
      },
      groups: {
        query:
          'SELECT g.gid, g.groupname, u.username FROM groups g JOIN user_groups ug USING (gid) JOIN users u USING (uid)',
        pace: 'hourly',
        description: 'Who is in which group.',
      },
      sudoers: {
        query: 'SELECT source, header, rule_details FROM sudoers',
        pace: 'hourly',
        description: 'Who may become root.',
      },
      authorized_keys: {
        query:
          'SELECT u.username, k.algorithm, k.key, k.options, k.comment, k.key_file FROM users u CROSS JOIN authorized_keys k USING (uid)',
        pace: 'hourly',
        description: 'Keys that open a session over SSH (T1098.004).',
      },
      user_ssh_keys: {
        query: 'SELECT u.username, k.path, k.encrypted, k.key_type FROM users u CROSS JOIN user_ssh_keys k USING (uid)',
        pace: 'hourly',
        description: 'Private keys that lie on the node, and whether they are encrypted (T1552.004).',
      },
      crontab: {
        query: 'SELECT event, minute, hour, day_of_month, month, day_of_week, command, path FROM crontab',
        pace: 'hourly',
        description: 'What cron runs (T1053.003).',
      },
      systemd_units: {
        query:
          'SELECT id, description, load_state, unit_file_state, fragment_path, source_path, user FROM systemd_units ' +
          "WHERE id LIKE '%.service' OR id LIKE '%.timer'",
        pace: 'hourly',
        description: 'Services and timers (T1543.002).',
      },
      suid_bin: {
        query: 'SELECT path, username, groupname, permissions FROM suid_bin',
        pace: 'hourly',
        description: 'Programs that run as their owner (T1548.001).',
      },
      kernel_modules: {
        query: 'SELECT name, size, status FROM kernel_modules',
        pace: 'hourly',
        description: 'Loaded kernel modules (T1547.006).',
      },
      mounts: {
        query: `SELECT device, path, type, flags FROM mounts WHERE ${noPodMounts}`,
        pace: 'hourly',
        description: 'File systems of the node.',
      },
      interfaces: {
        query:
          'SELECT interface, d.mac, d.mtu, a.address, a.mask FROM interface_details d ' +
          `LEFT JOIN interface_addresses a USING (interface) WHERE ${noPodInterfaces}`,
        pace: 'hourly',
        description: 'Network interfaces of the node and their addresses.',
      },
      listening_ports: {
        query:
          'SELECT l.port, l.protocol, l.family, l.address, l.net_namespace, l.pid, p.name, p.path, p.cgroup_path ' +
          'FROM listening_ports l LEFT JOIN processes p USING (pid) WHERE l.port > 0',
        pace: 'often',
        description: 'What listens, in the network of the node and in those of pods.',
      },
      processes: {
        query:
          'SELECT pid, parent, name, path, cmdline, uid, gid, on_disk, cgroup_path FROM processes ' +
          "WHERE path != ''",
        pace: 'often',
        description: 'What runs, in pods too; threads of the kernel left out.',
      },
      certificates: {
        query:
          'SELECT common_name, subject, issuer, ca, self_signed, not_valid_before, not_valid_after, signing_algorithm, ' +
          'key_algorithm, key_strength, sha1, path FROM certificates',
        pace: 'daily',
        description: 'Authorities that the node trusts (T1553.004).',
      },
    },
  },
  inventory_deb: {
    discovery: "SELECT 1 FROM file WHERE path = '/var/lib/dpkg/status'",
    queries: {
      packages: {
        query: 'SELECT name, version, source, arch, revision, status, maintainer FROM deb_packages',
        pace: 'hourly',
        description: 'Installed packages of Debian, Ubuntu and their kin.',
      },
    },
  },
  inventory_rpm: {
    discovery:
      "SELECT 1 FROM file WHERE path IN ('/var/lib/rpm/rpmdb.sqlite', '/usr/lib/sysimage/rpm/rpmdb.sqlite', " +
      "'/var/lib/rpm/Packages', '/var/lib/rpm/Packages.db', '/usr/lib/sysimage/rpm/Packages.db')",
    queries: {
      packages: {
        query: 'SELECT name, version, release, epoch, source, arch, vendor, install_time FROM rpm_packages',
        pace: 'hourly',
        description: 'Installed packages of Red Hat, SUSE and their kin.',
      },
    },
  },
  inventory_docker: {
    discovery: "SELECT 1 FROM file WHERE path = '/var/run/docker.sock'",
    queries: {
      containers: {
        query:
          'SELECT id, name, image, image_id, state, privileged, readonly_rootfs, security_options FROM docker_containers',
        pace: 'often',
        description: 'Containers beside Kubernetes; osquery has no table for those of containerd.',
      },
      images: {
        query: 'SELECT id, created, size_bytes, tags FROM docker_images',
        pace: 'hourly',
        description: 'Images of Docker.',
      },
    },
  },
};
