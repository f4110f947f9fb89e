"""Other ways to send many prompts to a model from a shell: `llm`, started for each, and a loop with OpenAI's own Python library."""

import os
import subprocess
from collections import namedtuple

PATIENCE = 60
ANSWER = b"Hi there!"
# One process per prompt is slow, so a few are enough for its rate.
FEW = 10
MANY = 1_000

LOOP = """
import sys, openai
client = openai.OpenAI(base_url=sys.argv[1], api_key="k")
for number in range(int(sys.argv[2])):
    answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    print(answer.choices[0].message.content)
"""

# How many requests the command makes.
Rival = namedtuple("Rival", "command requests")


def rivals(bench, url):
    folder = os.environ.get("LLM_RIVALS", "")
    program = os.path.join(folder, "bin", "llm")
    if not os.path.exists(program):
        bench.skip("llm and openai are not available for the comparison with llm-pipe")
        return {}
    shell = f'for number in $(seq {FEW}); do "$0" --model bench --no-log hi || exit; done'
    found = {
        "llm, a process each": Rival(["/usr/bin/env", *settings(bench, url), "/bin/sh", "-c", shell, program], FEW),
        "openai in a loop": Rival([os.path.join(folder, "bin", "python3"), "-c", LOOP, url, str(MANY)], MANY),
    }
    bench.note(f"llm's rate is based on {FEW} requests, the others' on {MANY}.")
    return {name: rival for name, rival in found.items() if works(bench, name, rival)}


def settings(bench, url):
    """Configures llm for the server, in a folder of its own."""
    home = bench.file("llm")
    os.makedirs(home, exist_ok=True)
    with open(os.path.join(home, "extra-openai-models.yaml"), "w", encoding="utf-8") as file:
        file.write(f"- model_id: bench\n  model_name: m\n  api_base: {url}\n")
    return [f"LLM_USER_PATH={home}", "OPENAI_API_KEY=k"]


def works(bench, name, rival):
    ran = subprocess.run(rival.command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    if ran.returncode == 0 and ran.stdout.count(ANSWER) == rival.requests:
        return True
    bench.skip(f"llm-pipe compared with {name}, which ended with {ran.returncode}: ..{ran.stderr[-300:].decode(errors='replace')}")
    return False
