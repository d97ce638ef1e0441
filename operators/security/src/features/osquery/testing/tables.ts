/** The tables of osquery 5.17.0 on Linux that the pack asks, with their columns (https://osquery.io/schema/5.17.0). */

export const tables: Readonly<Record<string, readonly string[]>> = {
  authorized_keys: 'uid algorithm key options comment key_file pid_with_namespace'.split(' '),
  certificates:
    'common_name subject issuer ca self_signed not_valid_before not_valid_after signing_algorithm key_algorithm key_strength key_usage subject_key_id authority_key_id sha1 path serial issuer2 subject2'.split(
      ' ',
    ),
  crontab: 'event minute hour day_of_month month day_of_week command path pid_with_namespace'.split(' '),
  deb_packages:
    'name version source size arch revision status maintainer section priority admindir pid_with_namespace mount_namespace_id'.split(
      ' ',
    ),
  docker_containers:
    'id name image image_id command created state status pid path config_entrypoint started_at finished_at privileged security_options env_variables readonly_rootfs cgroup_namespace ipc_namespace mnt_namespace net_namespace pid_namespace user_namespace uts_namespace'.split(
      ' ',
    ),
  docker_images: 'id created size_bytes tags'.split(' '),
  file: 'path directory filename inode uid gid mode device size block_size atime mtime ctime btime hard_links symlink type symlink_target_path pid_with_namespace mount_namespace_id'.split(
    ' ',
  ),
  groups: 'gid gid_signed groupname pid_with_namespace'.split(' '),
  interface_addresses: 'interface address mask broadcast point_to_point type'.split(' '),
  interface_details:
    'interface mac type mtu metric flags ipackets opackets ibytes obytes ierrors oerrors idrops odrops collisions last_change link_speed pci_slot'.split(
      ' ',
    ),
  kernel_info: 'version arguments path device'.split(' '),
  kernel_modules: 'name size used_by status address'.split(' '),
  listening_ports: 'pid port protocol family address fd socket path net_namespace'.split(' '),
  mounts:
    'device device_alias path type blocks_size blocks blocks_free blocks_available inodes inodes_free flags'.split(' '),
  os_version:
    'name version major minor patch build platform platform_like codename arch pid_with_namespace mount_namespace_id'.split(
      ' ',
    ),
  processes:
    'pid name path cmdline state cwd root uid gid euid egid suid sgid on_disk wired_size resident_size total_size user_time system_time disk_bytes_read disk_bytes_written start_time parent pgroup threads nice cgroup_path'.split(
      ' ',
    ),
  rpm_packages:
    'name version release source size sha1 arch epoch install_time vendor package_group pid_with_namespace mount_namespace_id'.split(
      ' ',
    ),
  sudoers: 'source header rule_details'.split(' '),
  suid_bin: 'path username groupname permissions pid_with_namespace'.split(' '),
  system_info:
    'hostname uuid cpu_type cpu_subtype cpu_brand cpu_physical_cores cpu_logical_cores cpu_sockets cpu_microcode physical_memory hardware_vendor hardware_model hardware_version hardware_serial board_vendor board_model board_version board_serial computer_name local_hostname'.split(
      ' ',
    ),
  systemd_units:
    'id description load_state active_state sub_state unit_file_state following object_path job_id job_type job_path fragment_path user source_path'.split(
      ' ',
    ),
  user_groups: 'uid gid'.split(' '),
  user_ssh_keys: 'uid path encrypted key_type key_group_name key_length key_security_bits pid_with_namespace'.split(
    ' ',
  ),
  users:
    'uid gid uid_signed gid_signed username description directory shell uuid pid_with_namespace include_remote'.split(
      ' ',
    ),
};
