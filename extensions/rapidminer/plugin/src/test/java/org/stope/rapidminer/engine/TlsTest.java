// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificates that sign themselves: trusted by their fingerprint, and not without. */
final class TlsTest {
  @TempDir
  static Path folder;
  private static ScriptedServer server;
  private static String fingerprint;

  @BeforeAll
  static void serve() throws Exception {
    SelfSigned key = new SelfSigned(folder);
    server = new ScriptedServer(key.socket(), (seen) -> ScriptedServer.NOTHING);
    fingerprint = key.fingerprint();
  }

  @AfterAll
  static void end() throws Exception {
    server.close();
  }

  private static Map<String, Object> greet(String host, String fingerprint) throws Exception {
    ServerAddress address = ServerAddress.of(host + ":" + server.port());
    Map<String, String> known = new HashMap<String, String>();
    known.put("STOPE_SERVER", address.toString());
    known.put("STOPE_TOKEN", "secret1");
    known.put("STOPE_FINGERPRINT", fingerprint);
    try (RemoteSession session = new RemoteSession(address, ServerAccess.to(address, known, folder.resolve("none")))) {
      return session.ask(HttpRequest.get("/v1"), (answer) -> answer.json());
    }
  }

  @Test
  void aKnownFingerprintIsTrustedWhateverTheName() throws Exception {
    assertEquals("0.1.0", greet("127.0.0.1", fingerprint).get("version"));
    assertEquals("0.1.0", greet("localhost", "sha256:" + fingerprint).get("version"));
    assertEquals("Bearer secret1", server.requests.get(0).headers.get("authorization"));
  }

  @Test
  void aStrangeCertificateGetsNoTokenAndItsFingerprintIsShown() {
    int before = server.requests.size();
    for (String known : new String[] {"", fingerprint.replaceFirst(".", fingerprint.charAt(0) == '0' ? "1" : "0")}) {
      EngineException error = assertThrows(EngineException.class, () -> greet("127.0.0.1", known));
      assertEquals(EngineException.Kind.NO_ACCESS, error.kind(), error.getMessage());
      assertTrue(error.getMessage().replace(":", "").contains(fingerprint), error.getMessage());
    }
    assertEquals(before, server.requests.size());
  }

  @Test
  void aServerWithoutTlsIsSaidToHaveNone() throws Exception {
    try (ScriptedServer plain = new ScriptedServer((seen) -> ScriptedServer.NOTHING)) {
      ServerAddress address = ServerAddress.of("127.0.0.1:" + plain.port());
      EngineException error = assertThrows(EngineException.class, () -> new RemoteSession(address,
          ServerAccess.to(address, Collections.<String, String>emptyMap(), folder.resolve("none")))
              .ask(HttpRequest.get("/v1"), (answer) -> answer.json()));
      assertEquals(EngineException.Kind.NO_SERVER, error.kind());
      assertTrue(error.getMessage().contains("could not agree on TLS"), error.getMessage());
    }
  }
}
