// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What stope's JSON says of devices: whether there is a GPU, and where a job was computed. */
final class DeviceReport {
  // An object without objects in it; that is what both lists of devices hold.
  private static final Pattern OBJECT = Pattern.compile("\\{[^{}]*\\}");
  private static final String CUDA = "cuda";

  private boolean cuda;
  private String why = "";

  private DeviceReport() {}

  static DeviceReport of(String devicesJson) {
    DeviceReport report = new DeviceReport();
    Matcher object = OBJECT.matcher(devicesJson == null ? "" : devicesJson);
    while (object.find()) {
      String text = object.group();
      if (CUDA.equals(text(text, "name"))) {
        report.cuda = "true".equals(word(text, "available"));
        String reason = text(text, "reason");
        report.why = reason == null ? "" : reason;
      }
    }
    return report;
  }

  boolean hasGpu() {
    return cuda;
  }

  /** Why there is no GPU to compute on. */
  String whyNoGpu() {
    return why.isEmpty() ? "no GPU that stope can use" : why;
  }

  /** One line about where a job was computed; null if its report does not say. */
  String where(String reportJson, Settings.Device asked) {
    String backend = text(reportJson, "backend");
    if (backend == null || backend.isEmpty()) {
      return null;
    }
    if (backend.equals(CUDA)) {
      return "computed on the GPU";
    }
    String threads = word(reportJson, "threads");
    String cpu = "computed on " + ("1".equals(threads) ? "1 CPU thread" : threads + " CPU threads") + " (" + backend + ")";
    return asked == Settings.Device.AUTO && !cuda ? cpu + "; no GPU: " + whyNoGpu() : cpu;
  }

  /** The text of a member; null if there is none. */
  static String text(String json, String member) {
    Matcher found = Pattern.compile("\"" + member + "\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(json);
    return found.find() ? found.group(1).replaceAll("\\\\(.)", "$1") : null;
  }

  /** A number, true or false; null if there is none. */
  static String word(String json, String member) {
    Matcher found = Pattern.compile("\"" + member + "\"\\s*:\\s*([-+.0-9A-Za-z]+)").matcher(json);
    return found.find() ? found.group(1) : null;
  }
}
