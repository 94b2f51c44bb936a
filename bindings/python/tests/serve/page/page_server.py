"""The server as a process of its own."""

import contextlib
import json
import subprocess
import sys
import threading


@contextlib.contextmanager
def running_server(state, *flags):
    """Start ``stope-serve run`` on a port that the system chooses, and yield its address."""
    command = [sys.executable, "-m", "stope.serve", "run", "--port", "0", "--state", str(state), "--threads", "1", "--device", "cpu", *flags]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        lines = []
        address = None
        while address is None:
            line = server.stderr.readline()
            assert line, "the server ended: " + "".join(lines)
            lines.append(line)
            with contextlib.suppress(ValueError):
                address = json.loads(line).get("address")
        threading.Thread(target=server.stderr.read, daemon=True).start()  # a full pipe would stop the server
        yield address.rstrip("/") + "/"
    finally:
        server.terminate()
        server.wait(30)
