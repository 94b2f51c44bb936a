// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.util.Map;

/** An engine on another machine, where {@code stope-serve} runs: for systems without the native library. */
final class RemoteEngine implements Engine {
  private final String server;

  RemoteEngine(String server) {
    this.server = server;
  }

  /** Looks whether there is a stope server that lets this user in. The memory limit is the server's own. */
  @Override
  public EngineSession open(Settings settings) throws EngineException {
    ServerAddress address = ServerAddress.of(server);
    ServerAccess access = ServerAccess.to(address);
    // Somebody else's process may name any server, and what it names would get the user's data.
    if (address.tls() && !access.known()) {
      throw new EngineException(EngineException.Kind.NO_ACCESS, "The file " + ServerAccess.FILE + " in your home has "
          + "no token for the server '" + address + "', so nothing was sent there.", null);
    }
    return open(address, access, settings);
  }

  static EngineSession open(ServerAddress address, ServerAccess access, Settings settings) throws EngineException {
    RemoteSession session = new RemoteSession(address, access);
    boolean complete = false;
    try {
      greet(address, session.ask(HttpRequest.get("/v1"), (answer) -> answer.json()), settings);
      UnusedModels.INSTANCE.delete(address);
      complete = true;
      return session;
    } finally {
      if (!complete) {
        session.close();
      }
    }
  }

  private static void greet(ServerAddress address, Map<String, Object> about, Settings settings)
      throws EngineException {
    if (!about.containsKey("version") || !about.containsKey("kinds")) {
      throw ServerWords.foreign(address, "it does not say which version of stope it is");
    }
    if (!JsonText.list(JsonText.object(about.get("formats")).get("read")).contains(RowsFormat.MEDIA_TYPE)) {
      throw ServerWords.lost("The server '" + address + "' is too old for this extension: it has version "
          + about.get("version") + " and cannot read rows as this extension sends them.", null);
    }
    if ("read".equals(JsonText.object(about.get("caller")).get("right"))) {
      throw new EngineException(EngineException.Kind.NO_ACCESS, "The token for the server '" + address + "' has the "
          + "right to read alone. Its owner can make one with the right to compute.", null);
    }
    boolean hasGpu = JsonText.list(about.get("devices")).contains("cuda") && !"cpu".equals(about.get("device"));
    if (settings.device() == Settings.Device.GPU && !hasGpu) {
      throw new EngineException(EngineException.Kind.NO_GPU, "the server '" + address + "' computes on its CPU", null);
    }
  }
}
