// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** An answer of HTTP/1.1: status, headers, and a body that is still to be read. */
final class HttpAnswer {
  private static final int MOST_HEADERS = 200;
  private static final int MOST_REST = 1 << 16;
  private static final int NO_CONTENT = 204;
  private static final int NOT_MODIFIED = 304;
  private static final int MOST_LENGTH_DIGITS = 18;

  private final int status;
  private final Map<String, String> headers = new HashMap<String, String>();
  private final HttpBodies.Input body;

  private HttpAnswer(int status, InputStream in) throws IOException {
    this.status = status;
    int count = 0;
    for (String line = HttpBodies.line(in); !"".equals(line); line = HttpBodies.line(in)) {
      int colon = line == null ? -1 : line.indexOf(':');
      if (colon < 1 || ++count > MOST_HEADERS) {
        throw new HttpGarbage("its answer has no headers of HTTP");
      }
      headers.put(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).trim());
    }
    body = new HttpBodies.Input(in, length());
  }

  /** Reads the head of an answer; interim ones are skipped, except {@code 100} where it is waited for. */
  static HttpAnswer read(InputStream in, boolean continues) throws IOException {
    while (true) {
      String line = HttpBodies.line(in);
      if (line == null) {
        throw new IOException("it ended the connection without an answer");
      }
      if (!line.matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
        throw new HttpGarbage("it does not answer in HTTP");
      }
      int status = Integer.parseInt(line.substring(9, 12));
      HttpAnswer answer = new HttpAnswer(status, in);
      if (status >= 200 || status == 100 && continues) {
        return answer;
      }
    }
  }

  private long length() throws IOException {
    if (status < 200 || status == NO_CONTENT || status == NOT_MODIFIED) {
      return 0;
    }
    if (headers.containsKey("transfer-encoding")) {
      if (!headers.get("transfer-encoding").equalsIgnoreCase("chunked")) {
        throw new HttpGarbage("its answer is encoded in a way that nobody asked for");
      }
      return -1;
    }
    String length = header("content-length");
    if (!length.matches("[0-9]{1," + MOST_LENGTH_DIGITS + "}")) {
      throw new HttpGarbage("its answer does not say how long it is");
    }
    return Long.parseLong(length);
  }

  int status() {
    return status;
  }

  /** Empty where there is none. */
  String header(String name) {
    String value = headers.get(name);
    return value == null ? "" : value;
  }

  InputStream body() {
    return body;
  }

  /** Reads a short rest of the body, and says whether the connection can be used for a further request. */
  boolean drained() throws IOException {
    if (header("connection").equalsIgnoreCase("close")) {
      return false;
    }
    byte[] rest = new byte[1 << 12];
    for (int left = MOST_REST; left > 0 && !body.ended(); ) {
      left -= Math.max(0, body.read(rest, 0, rest.length));
    }
    return body.ended();
  }

  /** The rest of the body. More than {@code most} bytes are refused. */
  byte[] bytes(long most) throws IOException {
    byte[] all = new byte[1 << 12];
    int size = 0;
    while (true) {
      int got = body.read(all, size, all.length - size);
      if (got < 0) {
        return Arrays.copyOf(all, size);
      }
      size += got;
      if (size > most) {
        throw new HttpGarbage("its answer is too long");
      }
      if (size == all.length) {
        all = Arrays.copyOf(all, (int) Math.min(Math.max(2L * size, 1 << 14), most + 1));
      }
    }
  }

  /** The body as JSON. */
  Map<String, Object> json() throws IOException {
    try {
      return JsonText.object(JsonText.parse(new String(bytes(1 << 26), StandardCharsets.UTF_8)));
    } catch (IllegalArgumentException none) {
      throw new HttpGarbage("its answer is no JSON");
    }
  }
}
