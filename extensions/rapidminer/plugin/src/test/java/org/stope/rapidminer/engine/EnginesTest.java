// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The choice of an engine, and that all that crosses its interface can be sent. */
final class EnginesTest {
  private static Settings server(String address) {
    return new Settings(Settings.Device.AUTO, "", address);
  }

  @Test
  void anEmptyServerIsThisProcess() {
    assertSame(LocalEngine.INSTANCE, Engines.of(server("  ")));
  }

  @Test
  void aServerIsRefusedUntilThereIsATransport() {
    Settings settings = server("gpu-box:7400");
    EngineException error = assertThrows(EngineException.class, () -> Engines.of(settings).open(settings));
    assertEquals(EngineException.Kind.NO_TRANSPORT, error.kind());
    assertEquals("gpu-box:7400", error.getMessage());
  }

  @Test
  void whatIsNoAddressIsSaidToBeNone() {
    Settings settings = server("gpu-box");
    EngineException error = assertThrows(EngineException.class, () -> Engines.of(settings).open(settings));
    assertEquals(EngineException.Kind.UNSUITABLE, error.kind());
    for (String right : new String[] {"gpu-box:7400", "a.b-c.example:1", "10.0.0.255:65535", "[::1]:7400", "[::]:1",
        "[2001:db8::8:800:200c:417a]:80", "[1:2:3:4:5:6:7:8]:80"}) {
      assertTrue(RemoteEngine.isAddress(right), right);
    }
    for (String wrong : new String[] {":7400", "host:", "host:0", "host:65536", "a host:7400", "host:x", "host:+80",
        "host:007", "host:999999999999", "host", "http://host:80", "a/b:80", "user@host:80", "-a:80", "a-:80",
        "a..b:80", "a_b:80", "256.1.1.1:80", "1.2.3:80", "1.2.3.4.:80", "::1:80", "[::1:80", "[1::2::3]:80", "[g::]:80",
        "[]:80", "[1:2:3]:80", "[1:2:3:4:5:6:7::8]:80", "host\n:80", "höst:80", "host:\u0661"}) {
      assertFalse(RemoteEngine.isAddress(wrong), wrong);
    }
  }

  @Test
  void anEngineCanBeReplaced() {
    FakeEngine fake = new FakeEngine();
    Engines.replace(fake);
    try {
      assertSame(fake, Engines.of(server("gpu-box:7400")));
    } finally {
      Engines.replace(null);
    }
  }

  @Test
  void settingsHeadersAndResultsCanBeSent() throws Exception {
    Settings settings = (Settings) sent(new Settings(Settings.Device.CPU, " 2GB ", "h:1"));
    assertEquals(Settings.Device.CPU, settings.device());
    assertEquals("2GB", settings.memoryLimit());
    assertEquals("", settings.server());
    assertEquals(Settings.Device.AUTO, ((Settings) sent(new Settings(Settings.Device.GPU, "", ""))).device());
    ColumnHeader header = (ColumnHeader) sent(new ColumnHeader("c", ColumnHeader.Role.LABEL,
        ColumnHeader.Type.BINOMINAL, Arrays.asList("no", "yes")));
    assertEquals(Arrays.asList("no", "yes"), header.values());
    ResultTable table = (ResultTable) sent(new ResultTable(new String[] {"p", "x"},
        new String[][] {{"a", "b"}, null}, new double[][] {{1, Double.NaN}, {0.5, 0.25}}));
    assertEquals("b", table.text(0, 0));
    assertEquals(null, table.text(1, 0));
    assertEquals(0.25, table.column("x")[1]);
    assertThrows(IllegalStateException.class, () -> table.column("y"));
  }

  private static Object sent(Object object) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes).writeObject(object);
    return new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
  }
}
