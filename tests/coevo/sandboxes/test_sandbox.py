"""What a sandbox keeps in and out, each with a real program that tries."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from coevo.model.errors import Fatal, Transient
from coevo.sandboxes.bubblewrap import list_descendants
from coevo.sandboxes.sandbox import Job, Limits, Mount, Process, Sandbox, open_sandbox
from tests.attacks.jobs import LIMITS, Done

ROOT = os.geteuid() == 0


@pytest.fixture(scope='module', params=['none', pytest.param('docker', marks=pytest.mark.docker)])
def other(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """The other back ends, for what all of them promise."""
    if request.param == 'docker':
        request.getfixturevalue('daemon')
    opened = open_sandbox(request.param)
    yield opened
    opened.close()


@pytest.fixture
def marker() -> str:
    """An argument by which a test's processes are found on the host."""
    return f'coevo-test-{uuid.uuid4().hex}'


def job(
    script: str, *arguments: str, limits: Limits = LIMITS, mounts: tuple[Mount, ...] = ()
) -> Job:
    return Job(argv=('bash', '-c', script, *arguments), limits=limits, mounts=mounts)


def run(sandbox: Sandbox, wanted: Job) -> Done:
    with sandbox.start(wanted) as process:
        process.stdin.close()
        output = process.stdout.read().decode()
        status = process.wait(timeout=60)
        return Done(
            status,
            output,
            process.get_last_error_output(),
            process.exceeded,
            process.get_cpu_seconds(),
        )


def found(marker: str) -> list[psutil.Process]:
    """Processes of the host with the marker among their arguments."""
    return [
        process
        for process in psutil.process_iter(['cmdline'])
        if marker in (process.info['cmdline'] or ())
    ]


@contextmanager
def killed(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill -9 in the end, also where a check in between fails."""
    try:
        yield
    finally:
        process.kill()


def until_ready(process: Process) -> None:
    assert process.stdout.readline() == b'ready\n'


# -- what is inside ------------------------------------------------------------------------------


def test_a_job_sees_its_own_user_host_name_and_folders(sandbox: Sandbox) -> None:
    script = 'id -un; id -u; hostname; pwd; echo $HOME $TZ $LANG; ls -d $HOME; ls /w; ls /'
    done = run(sandbox, job(script))
    user, uid, host, folder, environment, home, *top = done.output.splitlines()
    assert (user, uid, host, folder) == ('coevo', '1000', 'coevo', '/')
    assert (environment, home) == ('/tmp/home UTC C.UTF-8', '/tmp/home')
    assert set(top) <= {'bin', 'dev', 'first', 'etc', 'proc', 'sbin', 'tmp', 'usr', 'w'} | {
        name for name in top if name.startswith('lib')
    }
    assert (done.status, done.noise, done.exceeded) == (0, '', None)


def test_stdin_and_stdout_are_connected_to_the_job(sandbox: Sandbox) -> None:
    with sandbox.start(Job(argv=('cat',), limits=LIMITS)) as process:
        process.stdin.write(b'\0\xffecho\n')
        process.stdin.flush()
        assert process.stdout.readline() == b'\0\xffecho\n'
        assert process.poll() is None
        process.stdin.close()
        assert process.stdout.read() == b''
        assert process.wait(timeout=120) == 0


@pytest.mark.parametrize(
    ('script', 'status'),
    [
        ('exit 0', 0),
        ('exit 3', 3),
        ('kill -9 $$', 137),
        ('kill -SEGV $$', 139),
        ('exec no-such-program', 127),
    ],
)
def test_the_exit_status_of_the_job_is_returned(sandbox: Sandbox, script: str, status: int) -> None:
    assert run(sandbox, job(script)).status == status


def test_a_job_sees_only_its_own_environment(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_SECRET', 'hidden')
    wanted = replace(job('env; cat /proc/*/environ'), environment={'SHOWN': 'a b\n=c'})
    output = run(sandbox, wanted).output
    assert 'SHOWN=a b\n=c\n' in output
    assert 'hidden' not in output


def test_files_of_the_host_are_invisible(sandbox: Sandbox, folder: Path) -> None:
    secret = folder / 'secret'
    secret.write_text('secret')
    paths = f'{secret} /root /home /var /opt /sys /run /etc/shadow /proc/1/root/root {Path.cwd()}'
    done = run(sandbox, job(f'for path in {paths}; do test -e $path && echo $path; done; true'))
    assert done.output == ''


def test_no_descriptor_of_the_host_is_open(sandbox: Sandbox) -> None:
    assert run(sandbox, job('cd /proc/self/fd; echo *')).output.split()[:3] == ['0', '1', '2']
    assert run(sandbox, job('readlink /proc/1/fd/*; ls /proc/1/fd 2>/dev/null')).output == ''


def test_mounts_are_read_only(sandbox: Sandbox, folder: Path) -> None:
    (folder / 'file').write_text('content')
    mounts = (Mount(source=folder, target='/w/in'), Mount(source=folder / 'file', target='/m/f'))
    script = 'cat /w/in/file /m/f; echo x > /w/in/file; echo x > /w/in/new; rm /m/f; touch /w/own'
    done = run(sandbox, job(script, mounts=mounts))
    assert (done.status, done.output) == (0, 'contentcontent')
    assert done.noise.count('Read-only file system') == 3
    assert [path.name for path in folder.iterdir()] == ['file']


def test_only_the_jobs_own_folders_are_writable(sandbox: Sandbox) -> None:
    script = 'for path in / /dev /etc /usr /usr/local /proc; do touch $path/x && echo $path; done'
    assert run(sandbox, job(script)).output == ''


def test_a_job_has_no_privileges(sandbox: Sandbox) -> None:
    done = run(sandbox, job('grep -E "^(Cap...|NoNewPrivs):" /proc/self/status; unshare -U true'))
    lines = dict(line.split() for line in done.output.splitlines())
    assert lines.pop('NoNewPrivs:') == '1'
    assert {int(lines[name], 16) for name in ('CapInh:', 'CapPrm:', 'CapEff:', 'CapAmb:')} == {0}
    assert done.status != 0


def test_a_job_has_no_network_but_its_own_loopback(sandbox: Sandbox) -> None:
    with socket.create_server(('127.0.0.1', 0)) as server:
        port = server.getsockname()[1]
        done = run(sandbox, job(f'exec 3<>/dev/tcp/127.0.0.1/{port}'))
    assert done.status != 0
    assert 'Connection refused' in done.noise  # not "unreachable": the loopback is up
    outside = run(sandbox, job('exec 3<>/dev/udp/192.0.2.1/53'))
    assert 'Network is unreachable' in outside.noise


# -- who runs it ---------------------------------------------------------------------------------


@pytest.mark.skipif(not ROOT, reason='needs root')
def test_root_lends_each_sandbox_a_user_of_its_own(sandbox: Sandbox, marker: str) -> None:
    wanted = job('echo ready; sleep 600; true', marker)
    with sandbox.start(wanted) as one, sandbox.start(wanted) as two:
        until_ready(one)
        until_ready(two)
        users = {uid for process in found(marker) for uid in process.uids()}
        assert len(users) == 2
        assert min(users) >= 60000


@pytest.mark.skipif(not ROOT, reason='needs root')
def test_an_ordinary_user_gets_the_same_isolation(marker: str) -> None:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setresgid(64999, 64999, 64999)
            os.setresuid(64999, 64999, 64999)
            _check_as_ordinary_user(marker)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not found(marker)


def _check_as_ordinary_user(marker: str) -> None:
    sandbox = open_sandbox('bubblewrap')
    assert run(sandbox, job('id -u; ls /home 2>/dev/null; kill -9 -1; exit 5')).output == '1000\n'
    assert 'Cannot fork' in run(sandbox, _many_processes(marker)).noise
    limits = replace(LIMITS, wall_seconds=0.3)
    assert run(sandbox, job('sleep 600; true', marker, limits=limits)).exceeded == 'wall'
    sandbox.close()


# -- limits --------------------------------------------------------------------------------------


def test_the_number_of_processes_is_bounded(sandbox: Sandbox, marker: str) -> None:
    assert 'Cannot fork' in run(sandbox, _many_processes(marker)).noise
    assert not found(marker)


def _many_processes(marker: str) -> Job:
    script = 'for i in $(seq 200); do sleep 600 & done'  # not in bash, which waits and tries again
    return Job(argv=('dash', '-c', script, marker), limits=LIMITS)


def test_a_fork_bomb_ends_at_the_wall_limit(sandbox: Sandbox, marker: str) -> None:
    limits = replace(LIMITS, wall_seconds=2)
    done = run(sandbox, job('f() { f | f & }; f; sleep 600', marker, limits=limits))
    assert done.exceeded == 'wall'
    assert not found(marker)


def test_one_large_file_hits_the_space_limit(sandbox: Sandbox) -> None:
    for path in ('/w/x', '/tmp/x', '/dev/shm/x'):
        done = run(sandbox, job(f'head -c 200M /dev/zero > {path}'))
        assert done.status != 0
        assert 'No space left on device' in done.noise


def test_many_small_files_hit_the_space_limit(sandbox: Sandbox) -> None:
    done = run(sandbox, job('for i in $(seq 5000); do echo x > /w/$i || exit 9; done'))
    assert done.status == 9
    assert 'No space left on device' in done.noise


def test_file_size_is_bounded(sandbox: Sandbox) -> None:
    limits = replace(LIMITS, file_bytes=1 << 20)
    assert run(sandbox, job('head -c 2M /dev/zero > /w/x', limits=limits)).status == 128 + 25


def test_the_wall_limit_kills_the_process_tree(sandbox: Sandbox, marker: str) -> None:
    limits = replace(LIMITS, wall_seconds=0.5)
    script = '(setsid bash -c "sleep 600; true" "$0" &) ; sleep 600; true'
    done = run(sandbox, job(script, marker, limits=limits))
    assert (done.status, done.exceeded) == (137, 'wall')
    assert not found(marker)


def test_the_cpu_limit_counts_the_whole_process_tree(sandbox: Sandbox, marker: str) -> None:
    limits = replace(LIMITS, cpu_seconds=1)
    done = run(sandbox, job('(while :; do :; done) & while :; do :; done', marker, limits=limits))
    assert (done.status, done.exceeded) == (137, 'cpu')
    assert done.cpu_seconds > 1
    assert not found(marker)


def test_cpu_time_of_ended_children_counts(sandbox: Sandbox) -> None:
    limits = replace(LIMITS, cpu_seconds=1)
    script = 'while :; do (for ((i = 0; i < 20000; i++)); do :; done); done'
    assert run(sandbox, job(script, limits=limits)).exceeded == 'cpu'
    once = run(sandbox, job('(for ((i = 0; i < 200000; i++)); do :; done) & wait; true'))
    assert once.cpu_seconds > 0


def test_memory_is_bounded_while_the_watch_is_slow(sandbox: Sandbox) -> None:
    holds = 'sleep 1; all=$(head -c 300000000 /dev/zero | tr "\\0" a); sleep 300'
    # A shell takes a while to hold so much on a busy machine.
    limits = replace(LIMITS, memory_bytes=200 << 20, wall_seconds=120)
    with sandbox.start(job(holds, limits=limits)) as process:
        process.sample_usage_rarely()
        process.wait()
    assert process.exceeded == 'memory'


def test_memory_is_bounded(sandbox: Sandbox) -> None:
    limits = replace(LIMITS, memory_bytes=200 << 20)
    assert run(sandbox, job('tail /dev/zero', limits=limits)).exceeded == 'memory'


def test_address_space_is_bounded_from_4_gib_on(sandbox: Sandbox) -> None:
    limits = replace(LIMITS, memory_bytes=4 << 30)
    assert run(sandbox, job('ulimit -v', limits=limits)).output == f'{4 << 20}\n'
    assert run(sandbox, job('ulimit -v')).output == 'unlimited\n'
    free = replace(limits, bounds_addresses=False)
    assert run(sandbox, job('ulimit -v', limits=free)).output == 'unlimited\n'


def test_a_gigabyte_of_stderr_neither_blocks_nor_is_kept(sandbox: Sandbox) -> None:
    done = run(sandbox, job('head -c 1G /dev/zero >&2; echo last >&2; echo done'))
    assert (done.status, done.output) == (0, 'done\n')
    assert len(done.noise) == 64 * 1024
    assert done.noise.endswith('\0last\n')


def test_an_unread_gigabyte_of_stdout_blocks_the_job(sandbox: Sandbox) -> None:
    with sandbox.start(job('echo ready; head -c 1G /dev/zero')) as process:
        until_ready(process)
        with pytest.raises(TimeoutError):
            process.wait(timeout=0.3)
        process.kill()
        assert process.wait() == 137


# -- ends ----------------------------------------------------------------------------------------


def test_signals_of_a_job_reach_no_process_outside(sandbox: Sandbox) -> None:
    done = run(sandbox, job('kill -9 1; kill -9 $PPID; kill -9 -1; echo alive'))
    assert (done.status, done.output) == (0, 'alive\n')


def test_background_processes_end_with_the_command(sandbox: Sandbox, marker: str) -> None:
    script = 'setsid bash -c "trap \'\' TERM HUP; sleep 600; true" "$0" <&- >&- 2>&- & exit 4'
    assert run(sandbox, job(script, marker)).status == 4
    assert not found(marker)


def test_kill_leaves_no_process(sandbox: Sandbox, marker: str) -> None:
    with sandbox.start(job('sleep 600 & echo ready; sleep 600; true', marker)) as process:
        until_ready(process)
        assert found(marker)
        process.kill()
        assert not found(marker)
        assert process.poll() == process.wait() == 137
        assert process.stdout.read() == b''
        process.kill()
        assert process.exceeded is None


def test_kill_leaves_no_process_at_any_moment_of_the_start(sandbox: Sandbox, marker: str) -> None:
    for delay in range(20):
        with sandbox.start(job('sleep 600; true', marker)) as process:
            time.sleep(delay / 5000)
            process.kill()
            assert not found(marker)


def test_a_job_outlives_the_thread_that_started_it(sandbox: Sandbox) -> None:
    started: list[Process] = []
    thread = threading.Thread(
        target=lambda: started.append(sandbox.start(Job(argv=('cat',), limits=LIMITS)))
    )
    thread.start()
    thread.join()
    with started[0] as process:
        process.stdin.write(b'still here\n')
        process.stdin.flush()
        assert process.stdout.readline() == b'still here\n'


@pytest.mark.parametrize('name', ['bubblewrap', pytest.param('docker', marks=pytest.mark.docker)])
def test_no_job_outlives_a_killed_coevo(
    name: str, marker: str, request: pytest.FixtureRequest
) -> None:
    if name == 'docker':
        request.getfixturevalue('daemon')
    program = f"""
from coevo.sandboxes.sandbox import *
limits = {LIMITS!r}
process = open_sandbox({name!r}).start(
    Job(argv=('bash', '-c', 'echo ready; sleep 600; true', {marker!r}), limits=limits))
print(process.stdout.readline().decode(), end='', flush=True)
process.wait()
"""
    coevo = subprocess.Popen([sys.executable, '-c', program], stdout=subprocess.PIPE)
    with coevo, killed(coevo):
        assert coevo.stdout is not None
        assert coevo.stdout.readline() == b'ready\n'
        sandboxed = [process for process in found(marker) if process.pid != coevo.pid]
        assert sandboxed
    _, alive = psutil.wait_procs(sandboxed, timeout=120)
    assert not alive
    assert not found(marker)


def test_closing_a_sandbox_kills_its_jobs_and_refuses_new_jobs(marker: str) -> None:
    sandbox = open_sandbox('bubblewrap')
    process = sandbox.start(job('echo ready; sleep 600; true', marker))
    until_ready(process)
    sandbox.close()
    assert process.poll() == 137
    assert not found(marker)
    with pytest.raises(Transient, match='closed'):
        sandbox.start(job('true'))


# -- what the other back ends promise, too --------------------------------------------------------


def test_other_back_ends_give_jobs_channels_environment_and_status(
    other: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_SECRET', 'hidden')
    wanted = replace(job('cat; env; exit 3'), environment={'SHOWN': 'a b'})
    with other.start(wanted) as process:
        process.stdin.write(b'echo\n')
        process.stdin.close()
        output = process.stdout.read().decode().splitlines()
        assert process.wait(timeout=120) == 3
    assert output[0] == 'echo'
    assert {'SHOWN=a b', 'TZ=UTC', 'LANG=C.UTF-8', 'PATH=/usr/bin:/bin'} <= set(output)
    assert not any('hidden' in line for line in output)
    assert run(other, job('kill -9 $$')).status in (-9, 137)


def test_other_back_ends_give_jobs_mounts_and_writable_folders(
    other: Sandbox, folder: Path
) -> None:
    (folder / 'file').write_text('content')
    mounts = (Mount(source=folder, target='/in'),)
    script = 'set -e; cat "/in/file"; echo x >/w/x; test -d $HOME; cat /w/x; for x in /in/f*; do'
    script += ' echo ${x##*/}; done; cd $1; pwd -P | grep -o "[^/]*$"'
    done = run(other, job(script, 'sh', '/w', mounts=mounts))
    assert (done.output, done.status) == ('contentx\nfile\nw\n', 0), done
    assert run(other, job('ls /w')).output == ''


def test_other_back_ends_limit_jobs(other: Sandbox, marker: str) -> None:
    script = '(setsid bash -c "sleep 600; true" "$0" &) ; sleep 600; true'
    limits = replace(LIMITS, wall_seconds=3)
    assert run(other, job(script, marker, limits=limits)).exceeded == 'wall'
    script = '(while :; do :; done) & while :; do :; done'
    limits = replace(LIMITS, cpu_seconds=1)
    assert run(other, job(script, marker, limits=limits)).exceeded == 'cpu'
    limits = replace(LIMITS, file_bytes=1 << 20)
    assert run(other, job('(head -c 2M /dev/zero > /w/x)', limits=limits)).status == 128 + 25
    assert not found(marker)


def test_other_back_ends_leave_no_process(other: Sandbox, marker: str) -> None:
    script = 'setsid bash -c "sleep 600; true" "$0" <&- >&- 2>&- & exit 4'
    assert run(other, job(script, marker)).status == 4
    assert not found(marker)
    with other.start(job('sleep 600 & echo ready; sleep 600; true', marker)) as process:
        until_ready(process)
        process.kill()
        assert process.poll() in (-9, 137)
    assert not found(marker)


def test_other_back_ends_kill_a_process_that_executes_itself_again_and_again(
    other: Sandbox, marker: str
) -> None:
    # While it executes a program, its environment looks empty.
    script = """export AGAIN='exec sh -c "$AGAIN" "$0"'
    setsid sh -c "$AGAIN" "$0" <&- >&- 2>&- & exit 4"""
    for _ in range(20):
        assert run(other, job(script, marker)).status == 4
    # Its list of arguments looks empty at the same times, so one look would not do.
    assert not any(found(marker) for _ in range(5))


def test_other_back_ends_bound_the_kept_stderr(other: Sandbox) -> None:
    done = run(other, job('head -c 100M /dev/zero >&2; echo last >&2; echo done'))
    assert (done.status, done.output, len(done.noise)) == (0, 'done\n', 64 * 1024)
    assert done.noise.endswith('\0last\n')


def test_paths_in_a_text_for_a_job_are_translated_to_its_mounts(
    other: Sandbox, folder: Path
) -> None:
    (folder / 'inner').mkdir()
    (folder / 'inner' / 'file').write_text('content')
    mounts = (Mount(source=folder, target='/in'),)
    with other.start(job('read -r line; eval "$line"', mounts=mounts)) as process:
        line = 'key=/in/inner/file:/w; cp ${key%%:*} ${key##*:}/copy; cat ${key##*:}/*; ls -d /inn'
        process.stdin.write(process.translate_paths_for_job(line).encode() + b'\n')
        process.stdin.close()
        assert process.stdout.read() == b'content'
        process.wait()
        assert "'/inn'" in process.get_last_error_output()


@pytest.mark.docker
@pytest.mark.usefixtures('daemon')
def test_docker_containers_are_isolated_as_bubblewrap_jobs_are(folder: Path, marker: str) -> None:
    (folder / 'secret').write_text('secret')
    sandbox = open_sandbox('docker')
    paths = f'{folder}/secret /root/.ssh /home /opt /run/docker.sock /var/run /etc/shadow'
    done = run(sandbox, job(f'for path in {paths}; do test -e $path && echo $path; done; true'))
    assert done.output == ''
    script = 'for path in / /etc /usr /usr/local /sys; do touch $path/x && echo $path; done; id -u'
    assert run(sandbox, job(script)).output == '64999\n'
    with socket.create_server(('127.0.0.1', 0)) as server:
        done = run(sandbox, job(f'exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}'))
    assert 'Connection refused' in done.noise
    assert 'Cannot fork' in run(sandbox, _many_processes(marker)).noise
    assert 'No space left' in run(sandbox, job('head -c 200M /dev/zero > /w/x')).noise
    assert run(sandbox, job('kill -9 1; kill -9 -1; echo alive')).output == 'alive\n'
    # The kernel kills it in the container, or coevo the container, whichever sees it first.
    assert run(sandbox, job('tail /dev/zero')).status in (137, -9)
    sandbox.close()
    assert not found(marker)


# -- mounts that are refused ---------------------------------------------------------------------


def refusal(sandbox: Sandbox, *mounts: Mount) -> str:
    with pytest.raises(Fatal) as refused:
        sandbox.start(job('true', mounts=mounts))
    return str(refused.value)


def test_a_link_in_a_mounted_tree_reaches_no_file_of_the_host(
    sandbox: Sandbox, folder: Path
) -> None:
    (folder / 'secret').write_text('secret')
    tree = folder / 'tree'
    tree.mkdir()
    (tree / 'absolute').symlink_to(folder / 'secret')
    (tree / 'relative').symlink_to('../secret')
    (tree / 'passwd').symlink_to('/etc/passwd')
    done = run(sandbox, job('cd /w/tree; cat *', mounts=(Mount(source=tree, target='/w/tree'),)))
    assert 'secret' not in done.output
    assert 'coevo:x:1000' in done.output


def test_a_mount_through_a_link_is_refused(sandbox: Sandbox, folder: Path) -> None:
    tree, other = folder / 'tree', folder / 'other'
    tree.mkdir()
    other.mkdir()
    (tree / 'way').symlink_to('/oldroot' + str(other))
    outer = Mount(source=tree, target='/w/tree')
    assert 'way is missing or a link' in refusal(
        sandbox, Mount(source=other, target='/w/tree/way/in'), outer
    )
    assert 'is missing' in refusal(sandbox, outer, Mount(source=other, target='/w/tree/none'))
    assert not list(other.iterdir())


def test_a_mount_of_a_link_is_refused(sandbox: Sandbox, folder: Path) -> None:
    (folder / 'link').symlink_to('/root')
    assert 'is a symbolic link' in refusal(sandbox, Mount(source=folder / 'link', target='/w/x'))


def test_a_nested_mount_on_an_existing_folder_is_visible(sandbox: Sandbox, folder: Path) -> None:
    for name in ('outer/point', 'inner'):
        (folder / name).mkdir(parents=True)
    (folder / 'inner' / 'file').write_text('nested')
    mounts = (
        Mount(source=folder / 'inner', target='/w/outer/point'),
        Mount(source=folder / 'outer', target='/w/outer'),
    )
    assert run(sandbox, job('cat /w/outer/point/file', mounts=mounts)).output == 'nested'


@pytest.mark.parametrize('target', ['w/x', '/w/../x', '/', '/w//x', '/w/x/'])
def test_a_mount_target_that_is_not_absolute_and_normal_is_refused(
    sandbox: Sandbox, folder: Path, target: str
) -> None:
    assert 'is no absolute, normal path' in refusal(sandbox, Mount(source=folder, target=target))


def test_a_missing_mount_source_is_refused(sandbox: Sandbox, folder: Path) -> None:
    assert 'does not exist' in refusal(sandbox, Mount(source=folder / 'none', target='/w/x'))


@pytest.mark.skipif(not ROOT, reason='needs root')
def test_a_mount_source_closed_to_the_lent_user_is_refused(sandbox: Sandbox, folder: Path) -> None:
    inner = folder / 'closed' / 'inner'
    inner.mkdir(parents=True)
    inner.parent.chmod(0o700)
    sentence = refusal(sandbox, Mount(source=inner, target='/w/x'))
    assert f'{folder / "closed"} is closed' in sentence


# -- what cannot be used -------------------------------------------------------------------------


def test_an_unknown_sandbox_is_refused() -> None:
    with pytest.raises(Fatal, match="no sandbox 'chroot'"):
        open_sandbox('chroot')


def test_a_missing_bubblewrap_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(Fatal, match='install bubblewrap'):
        open_sandbox('bubblewrap')


def test_the_error_of_a_failing_bubblewrap_is_quoted(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    program = folder / 'bwrap'
    program.write_text('#!/bin/sh\necho No permissions to create new namespace >&2; exit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv('PATH', f'{folder}:{os.environ["PATH"]}')
    with pytest.raises(Fatal, match=r'cannot start a sandbox: .+'):
        open_sandbox('bubblewrap')


def test_a_missing_docker_daemon_is_reported(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / 'docker').symlink_to('/bin/true')
    monkeypatch.setenv('PATH', f'{folder}:{os.environ["PATH"]}')
    monkeypatch.setenv('DOCKER_HOST', 'tcp://127.0.0.1:1')
    with pytest.raises(Fatal, match=r'daemon cannot be used .* start it, or set DOCKER_HOST'):
        open_sandbox('docker')


def test_descendants_of_a_process_are_listed_until_it_ends() -> None:
    script = 'sleep 60 & echo $!; wait'
    with subprocess.Popen(['sh', '-c', script], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        sleeper = int(shell.stdout.readline())
        assert list(list_descendants(shell.pid)) == [sleeper]
        os.kill(sleeper, 9)
        shell.kill()
    assert list(list_descendants(shell.pid)) == []
