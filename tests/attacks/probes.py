"""Attempts to get out of a sandbox, as shell scripts that print OUT where they succeed.

Each is also run on the bare machine, where it has to succeed: what cannot succeed anywhere proves
nothing. The few that would do harm there, or cannot succeed there either, say so.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Probe:
    """`stopped`: by what; `bare`: whether it is tried on the bare machine, too."""

    name: str
    script: str
    stopped: str
    bare: bool = True


def _connect(family: str, address: str) -> str:
    """In perl, which can do what bash cannot; it is on every Debian."""
    return (
        "perl -MSocket=:all -e 'socket($s, " + family + ', SOCK_STREAM, 0) or die $!; '
        'connect($s, ' + address + ") or die $!; print qq(OUT\\n) if <$s> =~ /hello/'"
    )


NETWORK = (
    Probe('host_loopback', 'read l < /dev/tcp/127.0.0.1/$PORT && echo OUT', 'network name space'),
    Probe(
        'host_loopback_6',
        _connect('AF_INET6', 'pack_sockaddr_in6($ENV{PORT6}, inet_pton(AF_INET6, q(::1)))'),
        'network name space',
    ),
    Probe('host_address', 'read l < /dev/tcp/$ADDRESS/$OWN_PORT && echo OUT', 'network name space'),
    Probe(
        'outside_tcp',
        'for at in 192.0.2.1 198.51.100.1 203.0.113.1; do '
        'timeout 2 bash -c "exec 3<>/dev/tcp/$at/53" 2>&1 | grep -q unreachable || echo OUT; done',
        'network name space: no route, told at once',
    ),
    Probe(
        'outside_udp',
        'exec 3<>/dev/udp/198.51.100.1/53 && echo x >&3 && echo OUT',
        'network name space: no route',
    ),
    Probe(
        'name_server',
        'test -s /etc/resolv.conf && echo OUT; getent hosts example.org && echo OUT; true',
        'no resolver is configured, none could be reached',
    ),
    Probe(
        'abstract_socket',
        _connect('AF_UNIX', 'pack_sockaddr_un(qq(\\0$ENV{ABSTRACT}))'),
        'network name space',
    ),
    Probe('unix_socket', _connect('AF_UNIX', 'pack_sockaddr_un($ENV{SOCKET})'), 'mount name space'),
    Probe(
        'raw_packets',
        "perl -MSocket -e 'socket($s, 17, SOCK_RAW, 768) and print qq(OUT\\n)'",
        'no capabilities',
    ),
    Probe(
        'devices',
        'tail -n +3 /proc/net/dev | grep -vq "^ *lo:" && echo OUT',
        'network name space',
    ),
)

FILES = (
    Probe('host_file', 'grep -q "$SECRET" "$SECRET_FILE" && echo OUT', 'mount name space'),
    Probe(
        'through_init',
        'grep -q "$SECRET" "/proc/1/root$SECRET_FILE" && echo OUT',
        'mount and process name spaces',
        bare=False,
    ),
    Probe(
        'through_processes',
        'for p in /proc/[0-9]*; do grep -q "$SECRET" "$p/root$SECRET_FILE" && echo OUT; done',
        'mount and process name spaces',
    ),
    Probe(
        'private_folders',
        'for p in /root /home /var/lib /opt /sys/class /run /boot /etc/shadow /etc/machine-id '
        '/var/run/docker.sock /usr/local/bin; do test -e $p && echo OUT; done; true',
        'nothing of them is mounted',
    ),
    Probe(
        'disks',
        'for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/mem /dev/kmem /dev/kmsg /dev/fuse; do '
        'test -e $d && echo OUT; done; true',
        'a /dev of its own',
    ),
    Probe(
        'make_device',
        'for f in /tmp /w /dev/shm; do mknod $f/null c 1 3 && echo x > $f/null && echo OUT; done; '
        'rm -f /tmp/null /dev/shm/null; true',
        'no capabilities, nodev',
    ),
    Probe(
        'kernel_settings',
        'for f in kernel/core_pattern kernel/modprobe vm/overcommit_memory; do '
        '( : >> /proc/sys/$f ) && echo OUT; done; ( : >> /proc/sysrq-trigger ) && echo OUT; true',
        'never root outside: files of /proc belong to root, or are read-only',
    ),
    Probe(
        'write_system',
        'for f in / /usr /usr/bin /etc /lib /proc /dev; do '
        '( : > $f/coevo-probe ) && echo OUT && rm $f/coevo-probe; done; true',
        'read-only mounts',
    ),
    Probe(
        'mount',
        'mkdir -p /tmp/m; mount -t tmpfs none /tmp/m && echo OUT && umount /tmp/m',
        'no capabilities',
    ),
    Probe(
        'new_user_name_space',
        'unshare --user --map-root-user --mount sh -c "mount -t tmpfs none /mnt" && echo OUT',
        'user name spaces disabled (bubblewrap), system call filter (Docker)',
    ),
    Probe(
        'setuid_programs',
        'grep -q "NoNewPrivs:.0" /proc/self/status && find /usr/bin -perm -4000 | grep -q . '
        '&& echo OUT',
        'no new privileges: the bit means nothing',
    ),
)

SECRETS = (
    Probe(
        'environment',
        'env | grep -q "^COEVO_SECRET=" && echo OUT',
        "the environment is the job's alone",
    ),
    Probe(
        'environment_of_processes',
        'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -q "^COEVO_SECRET=" '
        '&& echo OUT',
        'started with an empty environment, process name space',
    ),
    Probe(
        'environment_of_pid_1',
        'tr "\\0" "\\n" < /proc/1/environ | grep -Ev "^(HOME|LANG|PATH|TZ|PWD|HOSTNAME|SHLVL|_'
        '|SECRET|SECRET_FILE|VICTIM|PORT6?|ADDRESS|OWN_PORT|ABSTRACT|SOCKET|IN)=" && echo OUT',
        'started with an empty environment',
        bare=False,
    ),
    Probe(
        'command_lines',
        'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -qE "[p]ytest|[p]ython" && echo OUT',
        'process name space',
    ),
    Probe(
        'open_files',
        'for f in /proc/1/fd/* /proc/self/fd/*; do readlink $f; done | '
        'grep -vE "^(pipe:|anon_inode:|/dev/null|/proc/|socket:|$)" | grep -v "/lifeline" '
        '&& echo OUT; true',
        'descriptors are closed on the way in',
        bare=False,
    ),
)

PROCESSES = (
    Probe(
        'see',
        'test -e /proc/$VICTIM/stat && grep -q sleep /proc/$VICTIM/stat && echo OUT',
        'process name space',
    ),
    Probe(
        'signal',
        'grep -q "(sleep)" /proc/$VICTIM/stat && kill -CONT $VICTIM && echo OUT',
        'process name space',
    ),
    Probe(
        'count', 'n=$(ls -d /proc/[0-9]* | wc -l); test $n -gt 12 && echo OUT', 'process name space'
    ),
    Probe(
        'shared_memory',
        'tail -n +2 /proc/sysvipc/shm | grep -q . && echo OUT',
        'IPC name space',
        bare=False,
    ),
)

INPUTS = (
    Probe('overwrite', 'echo x > $IN/file && echo OUT', 'read-only mount'),
    Probe('append', 'echo x >> $IN/inner/file && echo OUT', 'read-only mount'),
    Probe('create', 'echo x > $IN/new && echo OUT', 'read-only mount'),
    Probe('remove', 'rm -f $IN/inner/file && echo OUT', 'read-only mount'),
    Probe('rename', 'mv $IN/inner $IN/outer && echo OUT', 'read-only mount'),
    Probe('change_mode', 'chmod 4777 $IN/file && echo OUT', 'read-only mount'),
    Probe('change_time', 'touch -d 2001-01-01 $IN/file && echo OUT', 'read-only mount'),
    Probe('link', 'ln $IN/file $IN/hard && echo OUT', 'read-only mount'),
    Probe(
        'through_a_descriptor',
        'exec 3< $IN/file; echo x > /proc/self/fd/3 && echo OUT',
        'read-only mount',
    ),
    Probe('socket_file', 'mkfifo $IN/fifo && echo OUT', 'read-only mount'),
)

ALL = {
    'network': NETWORK,
    'files': FILES,
    'secrets': SECRETS,
    'processes': PROCESSES,
    'inputs': INPUTS,
}
