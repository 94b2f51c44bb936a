// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

/** Chooses the engine: the library in this process, or the server that a setting names. */
public final class Engines {
  private static volatile Engine replacement;

  private Engines() {}

  public static Engine of(Settings settings) {
    Engine engine = replacement;
    if (engine != null) {
      return engine;
    }
    return settings.server().isEmpty() ? LocalEngine.INSTANCE : new RemoteEngine(settings.server());
  }

  /** Tests put an engine of their own in place of both; null takes it back. */
  public static void replace(Engine engine) {
    replacement = engine;
  }
}
