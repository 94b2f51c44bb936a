package org.stope;

/** What has a handle: {@link #close()} frees it; a {@link Cleaner} does if the object is forgotten. */
abstract class NativeObject implements AutoCloseable {
  final Handle handle;
  private final Cleaner.Entry entry;

  NativeObject(int kind, long value) {
    handle = new Handle(kind, value);
    entry = Cleaner.register(this, handle);
  }

  /** Frees the native memory. Calls that still run finish first. Closing again does nothing. */
  @Override
  public void close() {
    entry.forget();
    handle.close();
  }
}
