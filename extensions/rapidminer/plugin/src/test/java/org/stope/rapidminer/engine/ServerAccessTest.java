// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens go to the server that they are for, and to no other. */
final class ServerAccessTest {
  private static final Map<String, String> NOTHING = Collections.emptyMap();
  private static final String DIGITS = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

  @TempDir
  Path folder;

  private Path file(String text) throws IOException {
    Path file = folder.resolve("tokens");
    Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file;
  }

  private static ServerAccess to(String server, Map<String, String> environment, Path file) throws EngineException {
    return ServerAccess.to(ServerAddress.of(server), environment, file);
  }

  @Test
  void aLineOfTheFileIsForItsServerAlone() throws Exception {
    Path file = file("# colleagues\r\n\ngpu-box:7400 secret1\nhttp://127.0.0.1:7400 secret2\n"
        + "GPU-box:7401 - sha256:" + DIGITS.toUpperCase().replaceAll("..(?=.)", "$0:") + "\n");
    assertEquals("secret1", to("gpu-box:7400", NOTHING, file).token());
    assertEquals("secret1", to("https://GPU-BOX:7400", NOTHING, file).token());
    assertEquals("secret2", to("http://127.0.0.1:7400", NOTHING, file).token());
    assertEquals("", to("127.0.0.1:7400", NOTHING, file).token());
    assertEquals("", to("gpu-box:7402", NOTHING, file).token());
    assertFalse(to("gpu-box:7402", NOTHING, file).known());
    assertTrue(to("gpu-box:7400", NOTHING, file).known() && to("gpu-box:7401", NOTHING, file).known());
    assertEquals("", to("gpu-box:7401", NOTHING, file).token());
    assertEquals(DIGITS, to("gpu-box:7401", NOTHING, file).fingerprint());
    assertEquals("", to("gpu-box:7400", NOTHING, folder.resolve("none")).token());
  }

  @Test
  void theEnvironmentsTokenIsForTheServerThatItNames() throws Exception {
    Map<String, String> environment = new HashMap<String, String>();
    environment.put("STOPE_TOKEN", "secret3");
    Path file = file("gpu-box:7400 secret1\n");
    assertEquals("secret1", to("gpu-box:7400", environment, file).token());
    assertEquals("", to("other:7400", environment, file).token());
    environment.put("STOPE_SERVER", "gpu-box:7400");
    environment.put("STOPE_FINGERPRINT", DIGITS);
    assertEquals("secret3", to("gpu-box:7400", environment, file).token());
    assertEquals(DIGITS, to("gpu-box:7400", environment, file).fingerprint());
    assertEquals("", to("other:7400", environment, file).token());
  }

  private void refused(String words, String text) throws IOException {
    Path file = file(text);
    EngineException error = assertThrows(EngineException.class, () -> to("gpu-box:7400", NOTHING, file));
    assertEquals(EngineException.Kind.NO_ACCESS, error.kind());
    assertTrue(error.getMessage().contains(words), error.getMessage());
  }

  @Test
  void wrongLinesAreRefusedInWords() throws Exception {
    refused("line 2: a line is", "x:1 y\ngpu-box:7400\n");
    refused("line 1: a line is", "gpu-box:7400 a b c");
    refused("characters", "gpu-box:7400 a\u00e4");
    refused("fingerprint", "gpu-box:7400 a sha256:12");
  }

  @Test
  void aFileThatOthersReadIsRefused() throws Exception {
    Path file = file("gpu-box:7400 secret1\n");
    for (String rights : new String[] {"rw-r-----", "rw----r--", "rw--w----"}) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
      EngineException error = assertThrows(EngineException.class, () -> to("gpu-box:7400", NOTHING, file));
      assertTrue(error.getMessage().contains("chmod 600"), error.getMessage());
    }
  }
}
