"""The programs in examples/serve, in four languages, against a real server with a token."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .server_process import serve_command
from .test_tls import make_certificate

EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "serve"
EXPECTED = ["prediction", "versicolor", "setosa"]


def command_of(language, folder):
    """The command that runs a language's example, or None where the language is missing."""
    if language == "curl":
        return shutil.which("curl") and [str(EXAMPLES / "flowers.sh")]
    if language == "python":
        pytest.importorskip("httpx", reason="SKIP: httpx is missing")
        return [sys.executable, str(EXAMPLES / "flowers.py")]
    if language == "R":
        return shutil.which("Rscript") and shutil.which("curl") and ["Rscript", str(EXAMPLES / "flowers.R")]
    if not shutil.which("javac"):
        return None
    subprocess.run(["javac", "--release", "8", "-Xlint:-options", "-d", folder, EXAMPLES / "ServeClient.java"], check=True)
    return ["java", "-cp", str(folder), "ServeClient"]


def trusting(command, certificate, folder):
    """The command as docs/server-clients.md has it for a server's own certificate, which the others find by STOPE_CA."""
    if command[0] != "java":
        return command
    store = folder / "trust"
    subprocess.run(["keytool", "-importcert", "-noprompt", "-storepass", "changeit", "-file", certificate, "-keystore", store,
                    "-alias", "a"], check=True, capture_output=True)
    return ["java", f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit", *command[1:]]


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("language", ["curl", "python", "R", "java"])
def test_an_example_predicts_leaves_nothing_behind_and_tells_refusals(language, tls, start_server, tmp_path):
    command = command_of(language, tmp_path)
    if command is None:
        pytest.skip(f"SKIP the example in {language}: its programs are missing")
    state = tmp_path / "kept"
    token = subprocess.run(serve_command("token", "add", "a", "--right", "compute", "--state", state), check=True,
                           stdout=subprocess.PIPE, text=True).stdout.strip()
    flags, known = [], {}
    if tls:
        if shutil.which("openssl") is None:
            pytest.skip("SKIP: the program openssl makes the certificates")
        certificate, key = make_certificate(tmp_path, "own")
        flags, known = ["--certificate", certificate, "--key", key], {"STOPE_CA": str(certificate)}
        command = trusting(command, certificate, tmp_path)
    server = start_server(*flags, state=state, tokens=True)

    def run(token):
        environment = {**os.environ, "STOPE_SERVER": server.url, "STOPE_TOKEN": token, **known}
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    done = run(token)
    assert done.stdout.splitlines() == EXPECTED, done.stderr
    assert done.returncode == 0
    assert not list((state / "tables").iterdir()) and not list((state / "models").iterdir())
    refused = run("wrong")
    assert refused.returncode != 0
    assert refused.stderr.count("token is wrong") == 1
