// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import org.stope.Stope;

/** The engine in this process. Its library is loaded by the first session, never while RapidMiner starts. */
final class LocalEngine implements Engine {
  static final LocalEngine INSTANCE = new LocalEngine();

  private LocalEngine() {}

  @Override
  public EngineSession open(Settings settings) throws EngineException {
    String reason;
    try {
      reason = Stope.unavailableBecause();
    } catch (LinkageError | SecurityException refused) {
      reason = String.valueOf(refused.getMessage());
    }
    if (reason != null && !reason.isEmpty()) {
      throw new EngineException(EngineException.Kind.NO_LIBRARY, reason, null);
    }
    DeviceReport devices = DeviceReport.of(Stope.devices());
    if (settings.device() == Settings.Device.GPU && !devices.hasGpu()) {
      throw new EngineException(EngineException.Kind.NO_GPU, devices.whyNoGpu(), null);
    }
    return new LocalSession(settings, devices);
  }
}
