"""A process that holds a JVM with RefactoringMiner: file contents in, refactorings out, as JSON.

`python -m coevo.languages.java.refactorings.worker LIBJVM CLASS_PATH HEAP PARENT` first prints
`{"ready": null}`, or `{"no_jvm": REASON}`. Then each line of standard input is a request `{"old":
END, "new": END}`, answered by one line: `{"refactorings": [...], "cpu_seconds": ...}` or `{"error":
...}`. An END is `{"files": {path: text}, "folders": [path, ...]}`, where `folders` are those of all
Java files. The process ends with its standard input or its parent, even in the middle of a call.

It runs outside the sandbox: mined sources are parsed here, without bindings or annotation
processing, but none of their classes is loaded or run. At worst a source makes it fail or hang, and
`coevo.languages.java.refactorings.miner` enforces limits for that.
"""

from __future__ import annotations

import json
import os
import queue
import select
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import jpype

# End the JVM with status 3 at the first failed allocation, since its state is undefined afterwards.
_ON_EXHAUSTION = '-XX:+ExitOnOutOfMemoryError'
_OPTIONS = (
    _ON_EXHAUSTION,
    '-XX:+UseSerialGC',  # the same number of threads on any machine
    '-XX:MaxMetaspaceSize=256m',
    '-XX:-UsePerfData',  # its file would remain if the process is killed
    '-XX:+ErrorFileToStderr',
    '-XX:-CreateCoredumpOnCrash',
    '-Xrs',  # signals are left to the parent
    '-Djava.awt.headless=true',
    '-Dfile.encoding=UTF-8',
    '-Duser.language=en',
    '-Duser.country=US',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=off',
)


def main(arguments: list[str]) -> None:
    """Start a JVM and answer requests for ever; the process ends with standard input or its parent.

    If the JVM does not start, write the reason and return.
    """
    library, class_path, heap, parent = arguments
    results = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)  # output of libraries must not be mixed with results
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    _start_request_reader(int(parent), requests)
    try:
        jpype.startJVM(
            library,
            f'-Xmx{heap}',
            *_OPTIONS,
            classpath=class_path.split(os.pathsep),
            convertStrings=False,
        )
    except (OSError, RuntimeError) as error:
        _write_result(results, {'no_jvm': str(error)})
        return
    _write_result(results, {'ready': None})
    while True:
        _write_result(results, _handle_request(json.loads(requests.get())))


def _write_result(results: BinaryIO, answer: object) -> None:
    results.write(json.dumps(answer).encode() + b'\n')
    results.flush()


# -- end of the process ------------------------------------------------------------------------


def _start_request_reader(parent: int, requests: queue.SimpleQueue[bytes]) -> None:
    """Start a thread that queues requests and ends the process with its input or its parent.

    The thread does so even while Java is working. Ends the process at once if the parent has ended.
    """
    try:
        handle = os.pidfd_open(parent)
    except ProcessLookupError:
        os._exit(0)
    if os.getppid() != parent:
        os._exit(0)
    threading.Thread(target=_queue_requests, args=(handle, requests), daemon=True).start()


def _queue_requests(parent: int, requests: queue.SimpleQueue[bytes]) -> None:
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(parent, select.POLLIN)
    pending = b''
    while True:
        ready = {number for number, _ in poll.poll()}
        block = b'' if parent in ready else os.read(0, 1 << 20)
        if not block:
            os._exit(0)
        *lines, pending = (pending + block).split(b'\n') if b'\n' in block else [pending + block]
        for line in lines:
            requests.put(line)


# -- RefactoringMiner --------------------------------------------------------------------------


def _handle_request(request: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    begun = time.process_time()
    try:
        refactorings = list(_detect_refactorings(request['old'], request['new']))
    except jpype.JException as error:
        # Any exception, even StackOverflowError, concerns this pair only; the next one may succeed.
        return {'error': str(error.getClass().getName())}
    return {'refactorings': refactorings, 'cpu_seconds': time.process_time() - begun}


def _detect_refactorings(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the refactorings between two ends, found as by RefactoringMiner's `detectAtCommit`.

    That method itself needs a handler, a subclass of a Java class, which Python cannot define.
    """
    implementation = jpype.JClass('org.refactoringminer.rm1.GitHistoryRefactoringMinerImpl')
    before, after = (
        implementation.createModel(_make_java_map(end['files']), _make_java_set(end['folders']))
        for end in (old, new)
    )
    difference = before.diff(after)
    refactorings = difference.getRefactorings()
    for refactoring in refactorings:
        yield {
            'type': str(refactoring.getRefactoringType().getDisplayName()),
            'description': str(refactoring.toString()).replace('\t', ' '),
            'left': [_describe_location(range_) for range_ in refactoring.leftSide()],
            'right': [_describe_location(range_) for range_ in refactoring.rightSide()],
            'pure': _is_pure(refactoring, refactorings, difference),
        }


def _make_java_map(files: Mapping[str, str]) -> Any:
    contents = jpype.JClass('java.util.LinkedHashMap')()
    for path, text in files.items():
        contents.put(jpype.JString(path), jpype.JString(text))
    return contents


def _make_java_set(paths: Sequence[str]) -> Any:
    folders = jpype.JClass('java.util.LinkedHashSet')()
    for path in paths:
        folders.add(jpype.JString(path))
    return folders


def _describe_location(range_: Any) -> list[Any]:
    return [
        str(range_.getFilePath()),
        int(range_.getStartLine()),
        int(range_.getEndLine()),
        int(range_.getStartColumn()),
        int(range_.getEndColumn()),
        str(range_.getCodeElementType().name()),
        _to_text(range_.getCodeElement()),
        _to_text(range_.getDescription()),
    ]


def _to_text(value: Any) -> str:
    return '' if value is None else str(value)


def _is_pure(refactoring: Any, all_of_them: Any, difference: Any) -> bool | None:
    """Return the PurityChecker's result; None if it does not judge this kind or fails."""
    checker = jpype.JClass('org.refactoringminer.api.PurityChecker')
    try:
        result = checker.check(refactoring, all_of_them, difference)
    except jpype.JException:
        return None
    return None if result is None else bool(result.isPure())


if __name__ == '__main__':
    main(sys.argv[1:])
