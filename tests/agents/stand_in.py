"""An agent for tests, as plain as can be: it lets a model run shell commands until it is done.

It runs in the sandbox under the system's Python, without coevo: the prompt is its standard input,
the model answers at $COEVO_ENDPOINT as Anthropic's API does.
"""

import json
import os
import subprocess
import sys
import urllib.request

TOOL = {'name': 'sh', 'input_schema': {'type': 'object', 'properties': {'command': {}}}}


def ask(messages: list[dict[str, object]]) -> dict[str, object]:
    body = {
        'model': 'stand-in-1',
        'max_tokens': 1000,
        'tools': [TOOL],
        'messages': messages,
    }
    request = urllib.request.Request(
        f'{os.environ["COEVO_ENDPOINT"]}/v1/messages',
        data=json.dumps(body).encode(),
        headers={'Content-Type': 'application/json', 'x-api-key': 'none'},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)  # type: ignore[no-any-return]


def main() -> None:
    messages: list[dict[str, object]] = [{'role': 'user', 'content': sys.stdin.read()}]
    while True:
        answer = ask(messages)
        messages.append({'role': 'assistant', 'content': answer['content']})
        results = []
        for block in answer['content']:  # type: ignore[attr-defined]
            if block['type'] == 'tool_use':
                done = subprocess.run(
                    ('sh', '-c', block['input']['command']),
                    capture_output=True,
                    text=True,
                    check=False,
                )
                print(done.stdout + done.stderr)
                results.append(
                    {
                        'type': 'tool_result',
                        'tool_use_id': block['id'],
                        'content': done.stdout + done.stderr,
                    }
                )
        if not results:
            return
        messages.append({'role': 'user', 'content': results})


if __name__ == '__main__':
    main()
