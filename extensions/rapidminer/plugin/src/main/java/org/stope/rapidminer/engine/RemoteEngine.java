// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

/**
 * An engine on another machine, for systems without the native library. This version has no transport: every session
 * is refused in plain words, after the address has been checked.
 */
final class RemoteEngine implements Engine {
  private static final int MAX_PORT = 65535;

  private final String server;

  RemoteEngine(String server) {
    this.server = server;
  }

  @Override
  public EngineSession open(Settings settings) throws EngineException {
    if (!isAddress(server)) {
      throw new EngineException(EngineException.Kind.UNSUITABLE,
          "'" + server + "' is not an address; a server is named HOST:PORT, as in 'gpu-box:7400'.", null);
    }
    throw new EngineException(EngineException.Kind.NO_TRANSPORT, server, null);
  }

  static boolean isAddress(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 1 || text.indexOf(' ') >= 0) {
      return false;
    }
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      return port >= 1 && port <= MAX_PORT;
    } catch (NumberFormatException notANumber) {
      return false;
    }
  }
}
