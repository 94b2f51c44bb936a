// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.Serializable;

/**
 * Where a job is computed, and with how much memory. A model keeps the settings with which it was learned. A saved one
 * may be used on another machine: it forgets the server, and needs no GPU.
 */
public final class Settings implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The device, as the parameter 'device' names it. */
  public enum Device { AUTO, CPU, GPU }

  private final Device device;
  private final String memoryLimit;
  private final transient String server;

  /** An empty memory limit is the engine's own; an empty server is this process. */
  public Settings(Device device, String memoryLimit, String server) {
    this.device = device;
    this.memoryLimit = memoryLimit == null ? "" : memoryLimit.trim();
    this.server = server == null ? "" : server.trim();
  }

  private Object readResolve() {
    return new Settings(device == Device.GPU ? Device.AUTO : device, memoryLimit, "");
  }

  public Device device() {
    return device;
  }

  public String memoryLimit() {
    return memoryLimit;
  }

  public String server() {
    return server;
  }
}
