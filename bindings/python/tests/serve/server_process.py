"""A real server in a process of its own, at a port that the system chooses."""

import json
import os
import signal
import subprocess
import sys
import time
from urllib.parse import urlsplit

STARTS_WITHIN = 60  # seconds, on a busy machine


def serve_command(*words):
    return [sys.executable, "-m", "stope.serve", *map(str, words)]


class ServerProcess:
    """``stope-serve run`` with flags; the log goes into a file beside the state folder."""

    def __init__(self, state, *flags, tokens=False):
        self.state = state
        self.log_path = state.with_name(state.name + ".log")
        words = ["run", "--state", state, "--port", "0", *flags, *([] if tokens else ["--no-tokens"])]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(serve_command(*words), stderr=log, stdout=log, stdin=subprocess.DEVNULL)
        self.url = self._address().rstrip("/")
        parts = urlsplit(self.url)
        self.host, self.port = parts.hostname, parts.port

    def _address(self):
        until = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < until:
            for line in self.log():
                if line["event"] == "listening":
                    return line["address"]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.kill()
        raise AssertionError("the server did not start:\n" + self.log_path.read_text())

    def log(self):
        """The lines of the log so far, as dicts."""
        lines = self.log_path.read_text().split("\n")[:-1]
        return [json.loads(line) if line.startswith("{") else {"event": "no JSON", "text": line} for line in lines]

    def wait_for_log(self, **members):
        """Wait for a line that has these members, and return it."""
        until = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < until:
            for line in self.log():
                if all(line.get(name) == value for name, value in members.items()):
                    return line
            time.sleep(0.02)
        raise AssertionError(f"no line of the log has {members}:\n" + self.log_path.read_text())

    def send(self, number=signal.SIGTERM):
        os.kill(self.process.pid, number)

    def stop(self):
        """Tell the server to stop, and return its exit code."""
        if self.process.poll() is None:
            self.send()
        return self.process.wait(STARTS_WITHIN)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
