// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Bodies of HTTP/1.1 messages. A body that ends early is an error here, and never a shorter body. */
final class HttpBodies {
  private static final int MOST_SIZE_DIGITS = 15;
  static final int MOST_LINE = 1 << 16;

  private HttpBodies() {}

  /** A line without its end; null at the stream's end. */
  static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c >= 0; c = in.read()) {
      if (c == '\n') {
        int length = line.length();
        return length > 0 && line.charAt(length - 1) == '\r' ? line.substring(0, length - 1) : line.toString();
      }
      if (line.length() == MOST_LINE) {
        throw new HttpGarbage("a line of its answer does not end");
      }
      line.append((char) c);
    }
    return null;
  }

  /** Sends a body of unknown length in chunks. */
  static final class ChunkedOutput extends OutputStream {
    private final OutputStream to;

    ChunkedOutput(OutputStream to) {
      this.to = to;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (length > 0) {
        to.write((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
        to.write(bytes, offset, length);
        to.write('\r');
        to.write('\n');
      }
    }

    @Override
    public void flush() throws IOException {
      to.flush();
    }

    /** Without it the body is incomplete, and the receiver throws it away. */
    void finish() throws IOException {
      to.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      to.flush();
    }
  }

  /** Reads a body that says its length, or one in chunks. */
  static final class Input extends InputStream {
    private final InputStream from;
    private final boolean chunked;
    private long left;
    private boolean begun;
    private boolean ended;

    /** {@code length} is -1 for chunks. */
    Input(InputStream from, long length) {
      this.from = from;
      this.chunked = length < 0;
      this.left = chunked ? 0 : length;
      this.ended = length == 0;
    }

    /** Whether the whole body was read, so that the next answer follows. */
    boolean ended() {
      return ended;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      if (!ended && left == 0 && chunked) {
        nextChunk();
      }
      if (ended) {
        return -1;
      }
      int got = from.read(to, offset, (int) Math.min(length, left));
      if (got < 0) {
        throw new EOFException("its answer ends before it is complete");
      }
      left -= got;
      ended = left == 0 && !chunked;
      return got;
    }

    private void nextChunk() throws IOException {
      if (begun && !"".equals(line(from))) {
        throw new EOFException("its answer ends before it is complete");
      }
      begun = true;
      String line = line(from);
      if (line == null) {
        throw new EOFException("its answer ends before it is complete");
      }
      int extension = line.indexOf(';');
      String size = (extension < 0 ? line : line.substring(0, extension)).trim();
      if (!size.matches("[0-9A-Fa-f]{1," + MOST_SIZE_DIGITS + "}")) {
        throw new HttpGarbage("a chunk of its answer has no size");
      }
      left = Long.parseLong(size, 16);
      if (left == 0) {
        for (String trailer = line(from); !"".equals(trailer); trailer = line(from)) {
          if (trailer == null) {
            throw new EOFException("its answer ends before it is complete");
          }
        }
        ended = true;
      }
    }
  }
}
