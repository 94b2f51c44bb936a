// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;

/** Memory for a block of rows that native code reads where it lies. */
public final class BlockBuffer {
  /** Very wide tables get shorter blocks, so that two of them take little memory. */
  static final long MAX_BYTES = 64L << 20;

  private final ByteBuffer bytes;
  private final DoubleBuffer doubles;
  private final int capacity;

  public BlockBuffer(int rows, int columns, long maxBytes) {
    long rowBytes = 8L * Math.max(1, columns);
    capacity = (int) Math.max(1, Math.min(rows, maxBytes / rowBytes));
    bytes = ByteBuffer.allocateDirect(Math.toIntExact(capacity * rowBytes)).order(ByteOrder.nativeOrder());
    doubles = bytes.asDoubleBuffer();
  }

  /** The rows that fit. */
  public int capacity() {
    return capacity;
  }

  public ByteBuffer bytes() {
    return bytes;
  }

  /** The same memory, at its beginning. */
  public DoubleBuffer rewound() {
    doubles.clear();
    return doubles;
  }
}
