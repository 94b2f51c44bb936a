// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What names a server. */
final class ServerAddressTest {
  private static EngineException refusal(String text) {
    EngineException error = assertThrows(EngineException.class, () -> ServerAddress.of(text), text);
    assertEquals(EngineException.Kind.UNSUITABLE, error.kind());
    return error;
  }

  @Test
  void aHostAndAPortAreAnAddress() throws EngineException {
    for (String right : new String[] {"gpu-box:7400", "a.b-c.example:1", "10.0.0.255:65535", "[::1]:7400", "[::]:1",
        "[2001:db8::8:800:200c:417a]:80", "[1:2:3:4:5:6:7:8]:80", "https://gpu-box:7400", "localhost:7400"}) {
      assertTrue(ServerAddress.of(right).tls(), right);
    }
    assertEquals("gpu-box:7400", ServerAddress.of("https://GPU-Box:7400").toString());
    assertEquals("::1", ServerAddress.of("[::1]:7400").hostName());
    assertEquals("[::1]:7400", ServerAddress.of("[::1]:7400").place());
  }

  @Test
  void whatIsNoAddressIsSaidToBeNone() {
    for (String wrong : new String[] {":7400", "host:", "host:0", "host:65536", "a host:7400", "host:x", "host:+80",
        "host:007", "host:999999999999", "host", "http://", "a/b:80", "user@host:80", "-a:80", "a-:80", "a..b:80",
        "a_b:80", "256.1.1.1:80", "1.2.3:80", "1.2.3.4.:80", "::1:80", "[::1:80", "[1::2::3]:80", "[g::]:80", "[]:80",
        "[1:2:3]:80", "[1:2:3:4:5:6:7::8]:80", "host\n:80", "höst:80", "host:\u0661", "https://h:80/x", "ftp://h:80",
        "http://127.0.0.1", "HTTP://127.0.0.1:80"}) {
      assertTrue(refusal(wrong).getMessage().contains("HOST:PORT"), wrong);
    }
  }

  @Test
  void onlyThisMachineIsReachedWithoutTls() throws EngineException {
    for (String own : new String[] {"http://127.0.0.1:7400", "http://localhost:7400", "http://[::1]:7400",
        "http://127.1.2.3:1"}) {
      assertFalse(ServerAddress.of(own).tls(), own);
      assertEquals(own, ServerAddress.of(own).toString());
    }
    for (String other : new String[] {"http://gpu-box:7400", "http://10.0.0.1:80", "http://127.example:80",
        "http://[::2]:80"}) {
      assertTrue(refusal(other).getMessage().contains("in clear"), other);
    }
  }
}
