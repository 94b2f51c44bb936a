// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Models on servers that no object of this process stands for any more. RapidMiner closes no model. They are deleted
 * when the same server is used next, so that no thread has to wait for them; the others expire.
 */
final class UnusedModels {
  static final UnusedModels INSTANCE = new UnusedModels();

  private final ReferenceQueue<Object> unreachable = new ReferenceQueue<Object>();
  private final Map<Reference<?>, Place> held = new HashMap<Reference<?>, Place>();
  private final List<Place> unused = new ArrayList<Place>();

  private static final class Place {
    private final RemoteSession session;
    private final String path;

    Place(RemoteSession session, String path) {
      this.session = session;
      this.path = path;
    }
  }

  /** {@code owner} stands for what the path names; {@code session} must not refer to it. */
  synchronized Reference<?> add(Object owner, RemoteSession session, String path) {
    Reference<?> reference = new PhantomReference<Object>(owner, unreachable);
    held.put(reference, new Place(session, path));
    return reference;
  }

  /** The owner has deleted it itself. */
  synchronized void forget(Reference<?> reference) {
    held.remove(reference);
  }

  /** Deletes those of a server, without waiting for it. */
  void delete(ServerAddress server) {
    List<String> paths = new ArrayList<String>();
    RemoteSession session = null;
    for (Place place : take(server)) {
      paths.add(place.path);
      session = place.session;
    }
    if (session != null) {
      session.deleteApart(paths);
    }
  }

  private synchronized List<Place> take(ServerAddress server) {
    for (Reference<?> gone = unreachable.poll(); gone != null; gone = unreachable.poll()) {
      Place place = held.remove(gone);
      if (place != null) {
        unused.add(place);
      }
    }
    List<Place> taken = new ArrayList<Place>();
    for (Place place : unused) {
      if (place.session.server().toString().equals(server.toString())) {
        taken.add(place);
      }
    }
    unused.removeAll(taken);
    return taken;
  }
}
