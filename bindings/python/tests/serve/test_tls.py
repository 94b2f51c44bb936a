"""TLS: off the loopback there is nothing else."""

import shutil
import signal
import socket
import ssl
import subprocess

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="SKIP: the program openssl makes the certificates")

from .server_process import serve_command  # noqa: E402


def make_certificate(folder, name, password=None):
    """A certificate that signs itself, and its key."""
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-days", "2", "-subj", f"/CN={name}",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate,
         *(["-passout", f"pass:{password}"] if password else ["-nodes"])], check=True, capture_output=True)
    return certificate, key


@pytest.fixture
def certificate(tmp_path):
    return make_certificate(tmp_path, "first")


def get(server, path, authority, token=None, **versions):
    """GET over TLS with Python's own client; returns the answer and the connection's TLS version and certificate."""
    context = ssl.create_default_context(cafile=authority)
    for name, value in versions.items():
        setattr(context, name, value)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            header = f"Authorization: Bearer {token}\r\n" if token else ""
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}\r\n".encode())
            answer = b""
            while part := connection.recv(1 << 16):
                answer += part
            return answer, connection.version(), connection.getpeercert()


def test_off_the_loopback_it_speaks_tls_and_wants_tokens(start_server, certificate):
    server = start_server("--host", "0.0.0.0", "--certificate", certificate[0], "--key", certificate[1], tokens=True)
    assert server.url.startswith("https://0.0.0.0:")
    token = subprocess.run(serve_command("token", "add", "anna", "--right", "read", "--state", server.state), check=True,
                           capture_output=True, text=True).stdout.strip()
    answer, version, _ = get(server, "/health", certificate[0])
    assert answer.startswith(b"HTTP/1.1 200") and version == "TLSv1.3"
    assert get(server, "/v1/measures", certificate[0])[0].startswith(b"HTTP/1.1 401")
    assert get(server, "/v1/measures", certificate[0], token)[0].startswith(b"HTTP/1.1 200")
    # Plain HTTP gets no answer at all.
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try:
            assert b"HTTP" not in plain.recv(1 << 16)
        except ConnectionResetError:
            pass


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_versions_before_1_2_are_refused(start_server, certificate):
    server = start_server("--certificate", certificate[0], "--key", certificate[1])
    version = ssl.TLSVersion
    assert get(server, "/health", certificate[0], maximum_version=version.TLSv1_2)[1] == "TLSv1.2"
    with pytest.raises(ssl.SSLError):
        context = ssl.create_default_context(cafile=certificate[0])
        context.set_ciphers("ALL:@SECLEVEL=0")  # so that the client would speak it
        context.minimum_version = context.maximum_version = version.TLSv1_1
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as plain:
            context.wrap_socket(plain, server_hostname="localhost")


def test_a_renewed_certificate_is_read_without_a_restart(start_server, certificate, tmp_path):
    server = start_server("--certificate", certificate[0], "--key", certificate[1])
    second = make_certificate(tmp_path, "second")
    for new, old in zip(second, certificate):
        old.write_bytes(new.read_bytes())
    server.send(signal.SIGHUP)
    server.wait_for_log(event="certificate")
    assert ("commonName", "second") in [pair[0] for pair in get(server, "/health", second[0])[2]["subject"]]
    certificate[1].write_text("damaged")
    server.send(signal.SIGHUP)
    server.wait_for_log(event="failure")
    assert get(server, "/health", second[0])[0].startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("case", ["missing", "damaged", "other", "encrypted"])
def test_a_certificate_that_is_no_good_is_refused_in_one_sentence(tmp_path, certificate, case):
    path, key = certificate
    if case == "missing":
        key = tmp_path / "nowhere.key"
    elif case == "damaged":
        path.write_text("no certificate")
    elif case == "other":
        key = make_certificate(tmp_path, "other")[1]
    else:
        path, key = make_certificate(tmp_path, "locked", password="secret")
    done = subprocess.run(serve_command("run", "--state", tmp_path / "s", "--port", "0", "--certificate", path, "--key", key),
                          capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert ("encrypted" if case == "encrypted" else "cannot be used") in done.stderr


def test_a_client_that_begins_no_handshake_is_given_up(start_server, certificate):
    server = start_server("--certificate", certificate[0], "--key", certificate[1], "--header-time", "1s")
    with socket.create_connection((server.host, server.port), timeout=30) as connection:
        assert connection.recv(1) == b""
    assert b"200 OK" in get(server, "/health", certificate[0])[0]
