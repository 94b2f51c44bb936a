package org.stope;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Frees the handles of objects that nobody closed and nobody can reach. Java 8 has no cleaner of its own. There is no
 * thread for it, which would keep a plug-in's class loader alive: each new object frees what was found since the last one,
 * and so does the {@link Watcher} while jobs run. What a dropped class loader leaves is freed by JNI_OnUnload.
 */
final class Cleaner {
  private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
  // The queue gets only references that are reachable themselves.
  private static final Set<Entry> ENTRIES = ConcurrentHashMap.newKeySet();

  private Cleaner() {}

  static final class Entry extends PhantomReference<Object> {
    private final Handle handle;

    private Entry(Object owner, Handle handle) {
      super(owner, QUEUE);
      this.handle = handle;
    }

    void forget() {
      if (ENTRIES.remove(this)) {
        clear();
      }
    }
  }

  static Entry register(Object owner, Handle handle) {
    clean();
    Entry entry = new Entry(owner, handle);
    ENTRIES.add(entry);
    return entry;
  }

  /** Frees what nobody can reach any more. */
  static void clean() {
    for (Entry entry = (Entry) QUEUE.poll(); entry != null; entry = (Entry) QUEUE.poll()) {
      entry.handle.close();
      ENTRIES.remove(entry);
    }
  }
}
