// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What the log says of devices. */
final class DeviceReportTest {
  private static String devices(boolean cuda) {
    return "{\"backends\":[{\"available\":true,\"name\":\"avx2\",\"reason\":\"filters\"},"
        + "{\"available\":" + cuda + ",\"name\":\"cuda\",\"reason\":\"no \\\"driver\\\"\"}],\"gpus\":[],\"threads\":2}";
  }

  @Test
  void aGpuIsThereIfItsBackEndIsAvailable() {
    assertTrue(DeviceReport.of(devices(true)).hasGpu());
    DeviceReport without = DeviceReport.of(devices(false));
    assertFalse(without.hasGpu());
    assertEquals("no \"driver\"", without.whyNoGpu());
    assertFalse(DeviceReport.of(null).hasGpu());
    assertEquals("no GPU that stope can use", DeviceReport.of("{}").whyNoGpu());
  }

  @Test
  void theLogSaysWhatWasMissing() {
    DeviceReport without = DeviceReport.of(devices(false));
    String report = "{\"backend\": \"avx2\", \"threads\": 2}";
    assertEquals("computed on 2 CPU threads (avx2); no GPU: no \"driver\"",
        without.where(report, Settings.Device.AUTO));
    assertEquals("computed on 2 CPU threads (avx2)", without.where(report, Settings.Device.CPU));
    assertEquals("computed on 1 CPU thread (scalar)",
        DeviceReport.of(devices(true)).where("{\"backend\":\"scalar\",\"threads\":1}", Settings.Device.AUTO));
    assertEquals("computed on the GPU",
        DeviceReport.of(devices(true)).where("{\"backend\":\"cuda\",\"threads\":2}", Settings.Device.AUTO));
    assertNull(without.where("{}", Settings.Device.AUTO));
  }
}
