// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.CharBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Rows on their way to a server and back (docs/formats/rows.md): a line of JSON, then doubles with all their bits. Rows
 * are sent row by row, as blocks hold them; results come column by column.
 */
final class RowsFormat {
  static final String MEDIA_TYPE = "application/vnd.stope.rows";

  private static final int PIECE = 1 << 13;
  private static final int MOST_LINE = 1 << 28;

  private RowsFormat() {}

  /** The line of a body that holds rows until its end. */
  static byte[] head(List<ColumnHeader> columns) throws EngineException {
    StringBuilder line = new StringBuilder("{\"columns\":[");
    String separator = "";
    for (ColumnHeader column : columns) {
      line.append(separator).append("{\"name\":");
      JsonText.quote(line, column.name());
      line.append(",\"type\":\"").append(column.type().name().toLowerCase(Locale.ROOT)).append("\",\"role\":\"");
      line.append(column.role().name().toLowerCase(Locale.ROOT)).append('"');
      if (column.nominal()) {
        values(line, column.values());
      }
      line.append('}');
      separator = ",";
    }
    return utf8(line.append("],\"rows\":null,\"order\":\"rows\"}\n").toString());
  }

  private static void values(StringBuilder line, List<String> values) {
    line.append(",\"values\":[");
    String separator = "";
    for (String value : values) {
      line.append(separator);
      JsonText.quote(line, value);
      separator = ",";
    }
    line.append(']');
  }

  private static byte[] utf8(String line) throws EngineException {
    try {
      ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT).encode(CharBuffer.wrap(line));
      byte[] exact = new byte[bytes.remaining()];
      bytes.get(exact);
      return exact;
    } catch (CharacterCodingException error) {
      throw new EngineException(EngineException.Kind.UNSUITABLE,
          "The name or a value of an attribute has half of a surrogate pair, which is no text.", error);
    }
  }

  /** Sends the first {@code length} bytes of a block of doubles, in little-endian order whatever this machine's is. */
  static void send(ByteBuffer block, long length, OutputStream to) throws IOException {
    ByteBuffer from = block.duplicate().order(ByteOrder.nativeOrder());
    from.clear();
    from.limit(Math.toIntExact(length));
    byte[] piece = new byte[8 * PIECE];
    while (from.hasRemaining()) {
      int size = Math.min(piece.length, from.remaining());
      if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
        from.get(piece, 0, size);
      } else {
        ByteBuffer turned = ByteBuffer.wrap(piece).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < size; at += 8) {
          turned.putDouble(from.getDouble());
        }
      }
      to.write(piece, 0, size);
    }
    to.flush();
  }

  /** Reads a table of results whole. Memory grows with the bytes that come, whatever lengths are declared. */
  static ResultTable read(InputStream in) throws IOException {
    List<Object> columns = new ArrayList<Object>();
    Map<String, Object> line;
    try {
      line = JsonText.object(JsonText.parse(line(in)));
    } catch (IllegalArgumentException none) {
      throw new HttpGarbage("its rows begin with no JSON");
    }
    if (!"columns".equals(line.get("order")) || !(line.get("columns") instanceof List)) {
      throw new HttpGarbage("its rows are in an order that nobody asked for");
    }
    columns.addAll(JsonText.list(line.get("columns")));
    String[] names = new String[columns.size()];
    String[][] values = new String[columns.size()][];
    for (int c = 0; c < names.length; c++) {
      Map<String, Object> column = JsonText.object(columns.get(c));
      names[c] = JsonText.text(column, "name", "");
      values[c] = valuesOf(column);
    }
    double[][] numbers = new double[names.length][0];
    int rows = 0;
    for (long more = length(in); more != 0; more = length(in)) {
      if (more < 0 || more > Integer.MAX_VALUE - 8 - rows) {
        throw new HttpGarbage("its result has more rows than Java can hold");
      }
      for (int c = 0; c < numbers.length; c++) {
        numbers[c] = append(numbers[c], rows, (int) more, in);
      }
      rows += (int) more;
    }
    for (int c = 0; c < numbers.length; c++) {
      numbers[c] = numbers[c].length == rows ? numbers[c] : Arrays.copyOf(numbers[c], rows);
      checkCodes(numbers[c], values[c]);
    }
    return new ResultTable(names, values, numbers);
  }

  private static String line(InputStream in) throws IOException {
    byte[] line = new byte[1 << 12];
    int length = 0;
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0 || length == MOST_LINE) {
        throw new HttpGarbage("its rows begin with no line");
      }
      if (length == line.length) {
        line = Arrays.copyOf(line, 2 * length);
      }
      line[length++] = (byte) b;
    }
    return new String(line, 0, length, StandardCharsets.UTF_8);
  }

  private static String[] valuesOf(Map<String, Object> column) {
    String type = JsonText.text(column, "type", "");
    if (!type.endsWith("nominal")) {
      return null;
    }
    List<String> values = new ArrayList<String>();
    for (Object value : JsonText.list(column.get("values"))) {
      values.add(String.valueOf(value));
    }
    return values.toArray(new String[0]);
  }

  // A code outside would be an exception of Java far from here.
  private static void checkCodes(double[] numbers, String[] values) throws IOException {
    if (values == null) {
      return;
    }
    for (double code : numbers) {
      if (!Double.isNaN(code) && !(code >= 0 && code < values.length && code == Math.rint(code))) {
        throw new HttpGarbage("its rows hold a code without a value");
      }
    }
  }

  private static long length(InputStream in) throws IOException {
    byte[] eight = new byte[8];
    fill(in, eight, 8);
    return ByteBuffer.wrap(eight).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  /** Puts {@code more} numbers behind the first {@code rows} ones. */
  private static double[] append(double[] column, int rows, int more, InputStream in) throws IOException {
    double[] to = column;
    byte[] piece = new byte[8 * Math.min(PIECE, more)];
    for (int done = 0; done < more; ) {
      int count = Math.min(PIECE, more - done);
      fill(in, piece, 8 * count);
      if (to.length < rows + done + count) {
        long doubled = Math.min(Integer.MAX_VALUE - 8, 2L * (rows + done + count));
        to = Arrays.copyOf(to, (int) Math.min(doubled, (long) rows + more));
      }
      ByteBuffer.wrap(piece, 0, 8 * count).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer()
          .get(to, rows + done, count);
      done += count;
    }
    return to;
  }

  private static void fill(InputStream in, byte[] to, int length) throws IOException {
    for (int at = 0; at < length; ) {
      int got = in.read(to, at, length - at);
      if (got < 0) {
        throw new HttpGarbage("its rows end before they are complete");
      }
      at += got;
    }
  }
}
