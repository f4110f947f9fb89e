"""browser-use with a model of a local server, in a browser that is open: live_browser_use.py BROWSER SERVER STEPS GOAL. Prints its account when it
ends or is terminated. It runs with browser-use's own Python."""

import asyncio
import json
import os
import signal
import sys

import httpx
from browser_use import Agent, BrowserSession, ChatOpenAI, Tools

account = {"steps": 0, "input": 0, "output": 0, "end": ""}


async def count(response):
    """Each answer of the model, also one that browser-use cannot read."""
    await response.aread()
    usage = response.json().get("usage", {}) if response.is_success else {}
    account["steps"] += bool(usage)
    account["input"] += usage.get("prompt_tokens", 0)
    account["output"] += usage.get("completion_tokens", 0)


def end(*_):
    print(json.dumps(account), flush=True)
    os._exit(0)


async def main():
    browser, server, steps, goal = sys.argv[1:]
    # Errors would otherwise be sent again, which takes the model's time.
    client = httpx.AsyncClient(event_hooks={"response": [count]}, timeout=600)
    model = ChatOpenAI(model="medium", base_url=server, api_key="none", temperature=0, http_client=client, max_retries=0)
    # Its own form for small and fast models; the model has no eyes.
    agent = Agent(task=goal, llm=model, browser_session=BrowserSession(cdp_url=browser), flash_mode=True, use_vision=False, use_judge=False,
                  tools=Tools(exclude_actions=["search", "navigate", "go_back", "switch", "close"]), directly_open_url=False,
                  llm_timeout=600, step_timeout=600, enable_signal_handler=False)
    history = await agent.run(max_steps=int(steps))
    account["end"] = history.final_result() or ""
    end()


signal.signal(signal.SIGTERM, end)
asyncio.run(main())
