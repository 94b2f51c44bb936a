package org.stope;

import java.util.concurrent.atomic.AtomicLong;

/**
 * One handle of the C ABI and how many calls use it. Closing waits for nobody: the last call that uses the handle frees
 * it. So text that lives as long as its handle cannot go while it is copied.
 */
final class Handle {
  private static final String[] NAMES = {"run", "options", "table", "builder", "model", "lists"};
  private static final AtomicLong LIVE = new AtomicLong();

  private final int kind;
  private long value;
  private int users;
  private boolean closed;

  /** Takes over a handle that a native function has returned. */
  Handle(int kind, long value) {
    this.kind = kind;
    this.value = value;
    LIVE.incrementAndGet();
  }

  /** How many handles are not freed yet, for tests. */
  static long live() {
    return LIVE.get();
  }

  /** Returns the number for one call, which {@link #exit()} ends. */
  long enter() {
    return enter(NAMES[kind]);
  }

  /** The same for an object that is the argument of a parameter. */
  synchronized long enter(String parameter) {
    long number = enterIfOpen();
    if (number == 0) {
      throw Arguments.wrong(parameter, "the " + NAMES[kind] + " is closed");
    }
    return number;
  }

  /** The same, but 0 if it is closed. */
  synchronized long enterIfOpen() {
    if (closed) {
      return 0;
    }
    ++users;
    return value;
  }

  void exit() {
    free(false);
  }

  void close() {
    free(true);
  }

  private void free(boolean close) {
    long last = 0;
    synchronized (this) {
      if (close) {
        closed = true;
      } else {
        --users;
      }
      if (closed && users == 0) {
        last = value;
        value = 0;
      }
    }
    if (last != 0) {
      LIVE.decrementAndGet();
      Native.free(kind, last);
    }
  }
}
