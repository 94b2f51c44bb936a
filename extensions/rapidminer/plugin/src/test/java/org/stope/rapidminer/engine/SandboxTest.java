// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * RapidMiner Studio runs unsigned extensions in a sandbox: native code is forbidden, sockets are allowed. The server
 * can be used there. The permissions are those that Studio's public source grants.
 */
final class SandboxTest {
  private static final int FIRST_JAVA_WITHOUT_SANDBOXES = 24;
  private static final String GRANTS = "  permission java.lang.RuntimePermission \"shutdownHooks\";\n"
      + "  permission java.util.PropertyPermission \"*\", \"read\";\n"
      + "  permission java.io.FilePermission \"<<ALL FILES>>\", \"read, write\";\n"
      + "  permission java.util.logging.LoggingPermission \"control\";\n"
      + "  permission java.net.SocketPermission \"*\", \"connect, listen, accept, resolve\";\n"
      + "  permission java.net.URLPermission \"http://-\", \"*:*\";\n"
      + "  permission java.net.URLPermission \"https://-\", \"*:*\";\n"
      + "  permission java.lang.RuntimePermission \"accessClassInPackage.sun.*\";\n"
      + "  permission java.lang.RuntimePermission \"accessDeclaredMembers\";\n"
      + "  permission java.lang.RuntimePermission \"getenv.*\";\n"
      + "  permission java.lang.RuntimePermission \"getFileSystemAttributes\";\n"
      + "  permission java.lang.RuntimePermission \"readFileDescriptor\";\n"
      + "  permission java.lang.RuntimePermission \"writeFileDescriptor\";\n";

  @TempDir
  Path folder;

  private static Path place(Class<?> type) throws Exception {
    return Paths.get(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static int javaVersion() {
    String version = System.getProperty("java.specification.version");
    return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
  }

  private static byte[] rows() {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    String head = "{\"columns\":[{\"name\":\"prediction\",\"type\":\"real\"}],\"rows\":null,\"order\":\"columns\"}\n";
    body.write(head.getBytes(StandardCharsets.US_ASCII), 0, head.length());
    for (int b : new int[] {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0}) {
      body.write(b);
    }
    return ScriptedServer.join(("HTTP/1.1 200 OK\r\nContent-Length: " + body.size() + "\r\n\r\n")
        .getBytes(StandardCharsets.US_ASCII), body.toByteArray());
  }

  private static byte[] answer(ScriptedServer.Seen seen) {
    return seen.line.startsWith("POST /v1/tables") ? made("/v1/tables/~t")
        : seen.line.startsWith("POST /v1/models/fit") ? made("/v1/models/~m")
        : seen.line.contains("/predict") ? rows() : ScriptedServer.json("{}");
  }

  private static byte[] made(String path) {
    return ("HTTP/1.1 201 Created\r\nLocation: " + path + "\r\nContent-Length: 0\r\n\r\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static String grant(String place, String permissions) {
    return "grant codeBase \"file:" + place + "\" {\n" + permissions + "};\n";
  }

  private String run(String address, String fingerprint) throws Exception {
    Path policy = folder.resolve("policy");
    String stope = Files.isDirectory(place(org.stope.Stope.class)) ? "/-" : "";
    Files.write(policy, (grant(place(Worker.class) + "/-", GRANTS)
        + grant(place(org.stope.Stope.class) + stope, GRANTS)
        + grant(place(SandboxRun.class) + "/-", "  permission java.security.AllPermission;\n"))
            .getBytes(StandardCharsets.UTF_8));
    ProcessBuilder java = new ProcessBuilder(Paths.get(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx64m", "-Djava.security.manager", "-Djava.security.policy==" + policy, "-cp",
        place(Worker.class) + ":" + place(SandboxRun.class) + ":" + place(org.stope.Stope.class),
        SandboxRun.class.getName(), address);
    java.environment().put("STOPE_SERVER", address);
    java.environment().put("STOPE_TOKEN", "secret1");
    java.environment().put("STOPE_FINGERPRINT", fingerprint);
    Process process = java.redirectErrorStream(true).start();
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    InputStream in = process.getInputStream();
    for (int b = in.read(); b >= 0; b = in.read()) {
      output.write(b);
    }
    String text = output.toString("UTF-8");
    assertEquals(0, process.waitFor(), text);
    return text;
  }

  @Test
  void theServerIsReachedFromStudiosSandbox() throws Exception {
    assumeTrue(javaVersion() < FIRST_JAVA_WITHOUT_SANDBOXES, "SKIP: this Java has no security manager any more");
    SelfSigned key = new SelfSigned(folder);
    for (boolean tls : new boolean[] {false, true}) {
      try (ScriptedServer server = tls ? new ScriptedServer(key.socket(), SandboxTest::answer)
          : new ScriptedServer(SandboxTest::answer)) {
        String text = run(tls ? "127.0.0.1:" + server.port() : server.address(), tls ? key.fingerprint() : "");
        assertTrue(text.contains("prediction 1.5, 2 bytes"), text);
        assertTrue(text.contains("in this process: NO_LIBRARY"), text);
        assertEquals("Bearer secret1", server.requests.get(0).headers.get("authorization"));
      }
    }
  }
}
