// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
  void aServerIsAnotherEngine() {
    assertTrue(Engines.of(server("gpu-box:7400")) instanceof RemoteEngine);
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
