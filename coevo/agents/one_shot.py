"""An agent without tools: one request with the relevant files, one answer with the whole test file.

A task that asks for code is answered by a patch.

This file runs in the sandbox under the system's Python, without coevo, so it imports only the
standard library. The request shows the test file, and the files that the prompt names between
backticks. If $COEVO_MESSAGES is set, the prompt is the whole conversation instead, as JSON: a list
of messages with `role` and `content`.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import math
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

# Most characters of all files together, the test file first. The request says how many are left
# out.
MOST_SHOWN = 200_000
# Anthropic's API requires a limit for the answer.
_MOST_TOKENS = 16_000
# Exit status after an answer of the model that holds no file.
NO_CODE_BLOCK = 4
# Exit status after an answer whose patch does not apply.
NO_FITTING_PATCH = 5
# Most bytes of an answer. A longer one is cut and then fails to parse as JSON.
_MOST_BYTES = 64 << 20
# Most bytes that are read of an error, and most characters of it that are printed.
_MOST_EXPLAINED, _MOST_SAID = 16_000, 400
# Seconds before a question is asked again, unless the endpoint names a time; longer than the most
# is not waited.
_PAUSES, _MOST_PAUSE = (2.0, 4.0, 8.0, 16.0, 32.0), 120.0
# An average over text and code; tokenizers differ by a third.
_CHARACTERS_OF_A_TOKEN = 4

_NAMED = re.compile(r'`([^`\n]+)`')
# A line that opens a code block: indented, since blocks also stand in lists, and a fence of
# backticks with none after them.
_FENCE = re.compile(r'([ \t]*)(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)')
_BACKTICKS = re.compile(r'^[ \t]*(`{3,})', re.MULTILINE)
_ASKED = """
You have one answer. The files are:

{files}

Answer with the whole contents of {test_file}, from its first line to its last, in one fenced code block.
"""
_ASKED_CODE = """
You have one answer. The files are:

{files}

Answer with your changes as one patch for `git apply`, in one fenced code block.
"""

# What a task's prompt says to agents with tools: steps that run commands, which follow the last
# step that concerns the answer, and a closing sentence.
_COMMAND_STEPS = re.compile(
    r'^(\d+\. Do NOT modify (?:production code\.|tests, )[^\n]*\n)(?:[^\n]+\n)*', re.MULTILINE
)
_TOOLS = re.compile(r'\n*^You have file read/edit and shell tools\.[^\n]*\n?', re.MULTILINE)

Messages = list[dict[str, str]]
Read = Callable[[str], 'str | None']
"""Function from a path to the text of the file in the start state; None if it is absent."""


def compose_question_with_named_files(prompt: str, test_file: str, read: Read) -> str:
    """Return the prompt of a task, followed by the files it names and the form of the answer."""
    named = (name for name in _NAMED.findall(prompt) if '/' in name or '.' in name)
    files = '\n\n'.join(_format_files(dict.fromkeys((test_file, *named)), test_file, read))
    return drop_tool_sentences(prompt) + _ASKED.format(files=files, test_file=test_file)


def compose_code_question(prompt: str, test_file: str, paths: Iterable[str], read: Read) -> str:
    """Return the prompt of a task that asks for code, the files to show, and the answer's form.

    paths  the files that are shown after the test file
    """
    files = '\n\n'.join(_format_files(dict.fromkeys((test_file, *paths)), test_file, read))
    return drop_tool_sentences(prompt) + _ASKED_CODE.format(files=files)


def drop_tool_sentences(prompt: str) -> str:
    """Return the prompt of a task without what concerns tools, which this agent does not have."""
    return _TOOLS.sub('\n', _COMMAND_STEPS.sub(r'\1', prompt))


def _format_files(paths: dict[str, None], test_file: str, read: Read) -> Iterator[str]:
    left = MOST_SHOWN
    for path in paths:
        text = read(path)
        if text is None:
            if path == test_file:
                yield f'{path} does not exist yet.'
            continue
        shown, left = text[:left], max(0, left - len(text))
        rest = f'\n({len(text) - len(shown)} characters are left out)' if shown != text else ''
        fence = _choose_fence(shown)
        yield f'{path}:\n{fence}\n{shown}\n{fence}{rest}'


def _choose_fence(text: str) -> str:
    """Return a fence that is longer than all that begin a line of the text."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    return '`' * max(3, longest + 1)


def extract_longest_code_block(answer: str) -> str | None:
    """Return the longest code block of an answer; None if there is none."""
    return max(_iterate_code_blocks(answer), key=len, default=None)


def _iterate_code_blocks(answer: str) -> Iterator[str]:
    """Yield the contents of the closed code blocks, by CommonMark's rules for fences.

    A fence has three backticks or tildes or more, and is closed by one of the same kind that is at
    least as long. Lines lose the indentation of the fence. Unlike there, a fence may be indented
    by more than three columns, as in nested lists, and one that is not closed begins no block: it
    underlines a heading, or its answer was cut off.
    """
    lines = answer.replace('\r\n', '\n').split('\n')
    unclosed: set[tuple[str, int]] = set()  # so that many such lines take no square of the time
    start = 0
    while start < len(lines):
        opened = _FENCE.fullmatch(lines[start])
        start += 1
        if opened is None:
            continue
        indent, fence = opened[1], opened[2] or opened[3]
        columns = _count_columns(indent) + 3
        if (fence, columns) in unclosed:
            continue
        for end in range(start, len(lines)):
            if _closes_block(lines[end], fence, columns):
                yield ''.join(f'{_outdent(line, len(indent))}\n' for line in lines[start:end])
                start = end + 1
                break
        else:
            unclosed.add((fence, columns))


def _closes_block(line: str, fence: str, most_columns: int) -> bool:
    """Return whether a line closes the block of a fence, indented by at most so many columns."""
    text = line.strip(' \t')
    is_fence = len(text) >= len(fence) and not text.strip(fence[0])
    return is_fence and _count_columns(line[: line.index(text)]) <= most_columns


def _count_columns(indent: str) -> int:
    """Return the columns of the blanks before a text; a tab goes on to the next multiple of four."""
    return len(indent.expandtabs(4))


def _outdent(line: str, columns: int) -> str:
    """Return a line without as many blanks at its beginning, or as it has."""
    return line[min(columns, len(line) - len(line.lstrip(' \t'))) :]


def extract_longest_code_or_text(answer: str) -> str | None:
    """Return the longest code block, or the whole answer if it has none; None if it is empty.

    For prompts of a user, which may ask for code without a fence. An answer with a fence of
    backticks that is not closed was cut off, and is None; a line of tildes may underline a heading.
    """
    block = extract_longest_code_block(answer)
    if block is not None or '```' in answer or not answer.strip():
        return block
    return f'{answer.strip()}\n'


def estimate_tokens(text: str) -> int:
    """Return a rough estimate of the number of tokens in a text."""
    return math.ceil(len(text) / _CHARACTERS_OF_A_TOKEN)


# -- in the sandbox --------------------------------------------------------------------------------


def main() -> int:
    """Ask the model and write its test file or apply its patch; return the exit status.

    It is 0 for an answer, `NO_CODE_BLOCK` if the answer holds none, `NO_FITTING_PATCH` for a patch
    that does not apply, and 1, after a line with the reason, if no answer came.
    """
    test_file = Path(os.environ['COEVO_TEST_FILE'])  # own name: coevo run's, inside the sandbox
    prompt = Path(os.environ['COEVO_PROMPT']).read_text('utf-8')
    is_whole, is_code = 'COEVO_MESSAGES' in os.environ, 'COEVO_CODE_FILES' in os.environ
    if is_whole:
        messages = json.loads(prompt)
    elif is_code:
        shown = json.loads(os.environ['COEVO_CODE_FILES'])
        question = compose_code_question(prompt, str(test_file), shown, _load_text)
        messages = _make_user_message(question)
    else:
        messages = _make_user_message(
            compose_question_with_named_files(prompt, str(test_file), _load_text)
        )
    try:
        answer = _ask_model(os.environ['COEVO_API'], os.environ['COEVO_MODEL'], messages)
    except _NoAnswer as error:
        print(error)
        return 1
    text = (extract_longest_code_or_text if is_whole else extract_longest_code_block)(answer)
    if text is None:
        print('the answer has no code block')
        return NO_CODE_BLOCK
    if is_code:
        return _apply_patch(text)
    test_file.parent.mkdir(parents=True, exist_ok=True)
    test_file.write_text(text, 'utf-8')
    return 0


def _apply_patch(patch: str) -> int:
    """Apply a patch to the work tree and return the exit status.

    Models often give wrong counts of lines in hunks, so a patch that does not apply is tried with
    counts that Git computes. It does not find the end of a hunk without a line `diff --git`.
    """
    command = ('git', 'apply', '--whitespace=nowarn', '-')
    for words in (command, (*command, '--recount')):
        done = subprocess.run(words, input=patch.encode(), capture_output=True, check=False)
        if done.returncode == 0:
            return 0
    reason = done.stderr.decode('utf-8', 'replace')[:500].strip()
    print(f'the patch of the answer does not apply: {reason}')
    return NO_FITTING_PATCH


def _load_text(path: str) -> str | None:
    try:
        return Path(path).read_text('utf-8', 'replace')
    except (OSError, ValueError):
        return None


def _make_user_message(text: str) -> Messages:
    return [{'role': 'user', 'content': text}]


class _NoAnswer(Exception):
    """No answer came from the model; the message says why."""


def _ask_model(api: str, model: str, messages: Messages) -> str:
    """Return the text of the model's answer. Raises: _NoAnswer."""
    settings = json.loads(os.environ.get('COEVO_SETTINGS', '{}'))
    path, body = build_request_path_and_body(api, model, messages, settings)
    headers = {'Content-Type': 'application/json'}
    if api == 'anthropic':
        headers['anthropic-version'] = '2023-06-01'
    call = urllib.request.Request(
        os.environ['COEVO_ENDPOINT'] + path, data=json.dumps(body).encode(), headers=headers
    )
    content = _send_patiently(call)
    try:
        return _extract_text(api, json.loads(content))
    except (ValueError, RecursionError):
        raise _NoAnswer("the endpoint's answer cannot be read: it is no JSON") from None
    except (LookupError, TypeError, AttributeError):
        raise _NoAnswer(
            f"the endpoint's answer cannot be read: it lacks the text of an answer of the API {api}"
        ) from None


def _send_patiently(call: urllib.request.Request) -> bytes:
    """Return the body of an answer; ask again, after a pause, if the endpoint is busy or fails.

    Raises: _NoAnswer.
    """
    for usual_pause in (*_PAUSES, None):
        try:
            with urllib.request.urlopen(call) as answer:
                return bytes(answer.read(_MOST_BYTES))
        except urllib.error.HTTPError as error:
            body = _read_explanation(error)
            wanted = parse_retry_after_seconds(error.headers.get('Retry-After'), time.time())
            pause = usual_pause if wanted is None else wanted
            again = error.code == 429 or (error.code >= 500 and b'"coevo_relay"' not in body)
            if not again or usual_pause is None or pause is None or pause > _MOST_PAUSE:
                raise _NoAnswer(f'HTTP {error.code}: {extract_explanation(body)}') from None
            print(f'HTTP {error.code}: asked again after {pause:.0f} s', flush=True)
            time.sleep(pause)
        except (OSError, http.client.HTTPException):
            raise _NoAnswer('the connection ended before the answer did') from None
    raise AssertionError('the last turn returns or raises')


def _read_explanation(error: urllib.error.HTTPError) -> bytes:
    """Return the beginning of an error's body; nothing if the connection ends before."""
    try:
        return error.read(_MOST_EXPLAINED)
    except (OSError, http.client.HTTPException):
        return b''


def parse_retry_after_seconds(value: str | None, now: float) -> float | None:
    """Return the seconds that a header `Retry-After` names; None if it names none.

    now  the time, for a header that has a date
    """
    if value is None:
        return None
    if re.fullmatch('[0-9]{1,9}', value.strip()):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def extract_explanation(body: bytes) -> str:
    """Return the message in an endpoint's error, or the beginning of what it sent, in one line."""
    text = body.decode('utf-8', 'replace')
    try:
        document = json.loads(text)
        error = document.get('error', document)
        text = str(error['message'] if isinstance(error, dict) else error)
    except (ValueError, LookupError, AttributeError, RecursionError):
        pass
    return ' '.join(text.split())[:_MOST_SAID] or 'no reason is given'


def build_request_path_and_body(
    api: str, model: str, messages: Messages, settings: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the path and the body of a call.

    settings  `temperature` and `max_tokens`; the endpoint's defaults apply to those not given
    """
    system = '\n\n'.join(message['content'] for message in messages if message['role'] == 'system')
    others = [message for message in messages if message['role'] != 'system']
    if api == 'gemini':
        return f'/v1beta/models/{model}:generateContent', _build_gemini_body(
            system, others, settings
        )
    if api == 'anthropic':
        body = {'model': model, 'messages': others, 'max_tokens': _MOST_TOKENS, **settings}
        return '/v1/messages', {**body, **({'system': system} if system else {})}
    return '/v1/chat/completions', {'model': model, 'messages': messages, **settings}


def _build_gemini_body(system: str, messages: Messages, settings: dict[str, Any]) -> dict[str, Any]:
    roles = {'user': 'user', 'assistant': 'model'}
    contents = [{'role': roles[m['role']], 'parts': [{'text': m['content']}]} for m in messages]
    names = {'temperature': 'temperature', 'max_tokens': 'maxOutputTokens'}
    generation = {names[name]: value for name, value in settings.items()}
    return {
        'contents': contents,
        **({'systemInstruction': {'parts': [{'text': system}]}} if system else {}),
        **({'generationConfig': generation} if generation else {}),
    }


def _extract_text(api: str, answer: Any) -> str:
    """Return the text of an answer.

    Raises: LookupError or TypeError if it has another structure.
    """
    if api == 'openai':
        return str(answer['choices'][0]['message']['content'])
    gemini = api == 'gemini'
    parts = answer['candidates'][0]['content']['parts'] if gemini else answer['content']
    return ''.join(part.get('text', '') for part in parts)


if __name__ == '__main__':
    sys.exit(main())
