// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the memory of models outside Java's heap. RapidMiner closes no model, and a model is a tiny object to the
 * garbage collector, which would not come before hundreds of folds have passed. So it is called whenever the models
 * that it has not freed hold twice as much as after its last call, and at least a certain amount.
 */
final class NativeMemory {
  static final NativeMemory INSTANCE = new NativeMemory(64L << 20, System::gc);

  private final ReferenceQueue<Object> unreachable = new ReferenceQueue<Object>();
  private final Map<Reference<?>, Long> held = new HashMap<Reference<?>, Long>();
  private final long least;
  private final Runnable collect;
  private long bytes;
  private long bytesAfterCall;

  NativeMemory(long least, Runnable collect) {
    this.least = least;
    this.collect = collect;
  }

  /** A model is there that holds so many bytes. */
  synchronized void add(Object model, long modelBytes) {
    forget();
    // What the last call has freed may have become known only now.
    bytesAfterCall = Math.min(bytesAfterCall, bytes);
    if (bytes + modelBytes > Math.max(least, 2 * bytesAfterCall)) {
      collect.run();
      forget();
      bytesAfterCall = bytes + modelBytes;
    }
    held.put(new PhantomReference<Object>(model, unreachable), modelBytes);
    bytes += modelBytes;
  }

  private void forget() {
    for (Reference<?> gone = unreachable.poll(); gone != null; gone = unreachable.poll()) {
      bytes -= held.remove(gone);
    }
  }
}
