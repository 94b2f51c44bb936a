// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the engine's memory that classifiers hold. WEKA closes no classifier, and to the garbage collector one is a
 * small object. So the collector is called when the indices that it has not taken hold twice as much as after its last
 * call, and at least a certain amount. The binding then frees what it has taken.
 */
final class HeldMemory {
  static final HeldMemory INSTANCE = new HeldMemory(256L << 20, System::gc);

  private final ReferenceQueue<Object> taken = new ReferenceQueue<>();
  private final Map<Reference<?>, Long> held = new HashMap<>();
  private final long least;
  private final Runnable collect;
  private long bytes;
  private long bytesAfterCall;

  HeldMemory(long least, Runnable collect) {
    this.least = least;
    this.collect = collect;
  }

  /** Counts an object that holds so many bytes until the collector takes it. */
  synchronized void add(Object holder, long holds) {
    forgetTaken();
    bytesAfterCall = Math.min(bytesAfterCall, bytes);
    if (bytes + holds > Math.max(least, 2 * bytesAfterCall)) {
      collect.run();
      forgetTaken();
      bytesAfterCall = bytes + holds;
    }
    held.put(new PhantomReference<>(holder, taken), holds);
    bytes += holds;
  }

  synchronized long bytes() {
    forgetTaken();
    return bytes;
  }

  private void forgetTaken() {
    for (Reference<?> gone = taken.poll(); gone != null; gone = taken.poll()) {
      bytes -= held.remove(gone);
    }
  }
}
