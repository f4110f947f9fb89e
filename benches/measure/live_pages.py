"""The pages of MiniWoB++, which start an episode by themselves and report it."""

import http.server
import json
import threading
import time
import urllib.parse

SEED = 0

# The episode's own timer would punish a slow model, and what is shown of it is for people. `load` handlers run in order: the page's own
# prepares the task.
SCRIPT = """<script>
window.addEventListener('load', () => {
  const report = (what, value) => fetch(`/report?what=${what}&value=${encodeURIComponent(JSON.stringify(value))}`);
  Math.seedrandom('SEED');
  core.EPISODE_MAX_TIME = 1e9;
  core.startEpisodeReal();
  document.getElementById('reward-display').style.display = 'none';
  const goal = core.getUtterance();
  // Some tasks also give its parts.
  report('goal', goal.utterance ?? goal);
  const watch = setInterval(() => {
    if (WOB_DONE_GLOBAL) { clearInterval(watch); report('reward', WOB_RAW_REWARD_GLOBAL); }
  }, 50);
});
</script></head>"""


class Pages:
    """Serves the pages, one episode at a time. A page that is loaded a second time has left its episode."""

    def __init__(self, folder):
        self.changed = threading.Condition()
        self.begin(None)
        pages = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def do_GET(self):
                address = urllib.parse.urlsplit(self.path)
                if address.path == "/report":
                    fields = dict(urllib.parse.parse_qsl(address.query))
                    pages.take(fields["what"], json.loads(fields["value"]))
                    return self.answer(b"")
                if address.path == f"/miniwob/{pages.task}.html":
                    with open(self.translate_path(self.path), "rb") as page:
                        text = page.read()
                    return self.answer(text.replace(b"</head>", SCRIPT.replace("SEED", f"{pages.task} {SEED}").encode(), 1))
                super().do_GET()

            def answer(self, body):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Prints nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def begin(self, task):
        """Forgets the last episode. Returns the address of the task."""
        with self.changed:
            self.task, self.goals, self.reward = task, [], None
        return f"{self.origin}/miniwob/{task}.html" if task else None

    def take(self, what, value):
        with self.changed:
            if what == "goal":
                self.goals.append(value)
            elif self.reward is None and len(self.goals) == 1:
                self.reward = value
            self.changed.notify_all()

    def wait(self, seconds, condition):
        """Whether the condition held in time."""
        with self.changed:
            return self.changed.wait_for(condition, seconds)

    def goal(self):
        if not self.wait(60, lambda: self.goals):
            raise OSError(f"the page of {self.task} has not started")
        return self.goals[0]

    def follow(self, process, seconds):
        """Waits for the end of the episode or of the player. Returns why it ended."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.wait(0.2, lambda: self.reward is not None or len(self.goals) > 1):
                return "solved" if self.reward == 1 else "wrong" if self.reward is not None else "the page was left"
            if process.poll() is not None:
                # The last report may still be on its way.
                self.wait(0.5, lambda: self.reward is not None)
                return "solved" if self.reward == 1 else "gave up"
        return "late"
