// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A model on a server is deleted when it is closed, and when nobody can reach it any more. */
final class UnusedModelsTest {
  private static RemoteModel model(RemoteSession session, String name) throws EngineException {
    return new RemoteModel(session, name, Collections.<ColumnHeader>emptyList(), 1);
  }

  @Test
  void modelsThatNobodyReachesAreDeletedOnTheirServer() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    CountDownLatch unreachable = new CountDownLatch(1);
    try (ScriptedServer server = new ScriptedServer((seen) -> {
      (seen.line.contains("~closed") ? closed : unreachable).countDown();
      return ScriptedServer.json("{}");
    })) {
      ServerAddress address = ServerAddress.of(server.address());
      ServerAddress other = ServerAddress.of("http://127.0.0.1:1");
      RemoteSession session = new RemoteSession(address, ServerAccess.to(address));
      RemoteModel kept = model(session, "~kept");
      RemoteModel first = model(session, "~closed");
      first.close();
      first.close();
      assertTrue(closed.await(20, TimeUnit.SECONDS));
      model(session, "~gone");
      for (int i = 0; i < 200 && unreachable.getCount() > 0; i++) {
        System.gc();
        UnusedModels.INSTANCE.delete(other);
        UnusedModels.INSTANCE.delete(address);
        unreachable.await(100, TimeUnit.MILLISECONDS);
      }
      assertEquals(2, server.lines.size(), server.lines.toString());
      assertTrue(server.lines.contains("DELETE /v1/models/~closed"), server.lines.toString());
      assertTrue(server.lines.contains("DELETE /v1/models/~gone"), server.lines.toString());
      assertTrue(kept.isOn(address) && !kept.isOn(other));
    }
  }
}
