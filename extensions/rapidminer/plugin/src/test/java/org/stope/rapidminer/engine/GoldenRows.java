// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.stope.Column;
import org.stope.Options;
import org.stope.Role;
import org.stope.Table;

/** A golden table as operators send tables: headers, and a block of doubles row by row. */
final class GoldenRows {
  private final List<ColumnHeader> headers = new ArrayList<ColumnHeader>();
  private final List<double[]> columns = new ArrayList<double[]>();

  private static Path folder() {
    String shared = System.getenv("STOPE_SHARED");
    Path root = shared == null ? Paths.get("..", "..", "..", "..", "shared") : Paths.get(shared);
    return root.resolve("goldens").resolve("rapidminer");
  }

  static boolean present() {
    return Files.exists(folder().resolve("MANIFEST.json"));
  }

  /** The recorded runs of k-NN. */
  static List<Object> runs() throws IOException {
    String text = new String(Files.readAllBytes(folder().resolve("MANIFEST.json")), StandardCharsets.UTF_8);
    return JsonText.list(JsonText.object(JsonText.parse(text)).get("runs"));
  }

  /** "train" or "test" of a data set. */
  static GoldenRows of(String dataset, String part) {
    Options options = Options.of("schema", folder().resolve(dataset).resolve("schema.json").toString(), "schema_part",
        part);
    GoldenRows rows = new GoldenRows();
    try (Table table = Table.read(folder().resolve(dataset).resolve(part + ".csv"), options, null)) {
      List<Column> schema = table.schema();
      for (int c = 0; c < schema.size(); c++) {
        Column column = schema.get(c);
        if (column.role() != Role.REGULAR && column.role() != Role.LABEL) {
          continue;
        }
        String type = column.type().name();
        rows.add(new ColumnHeader(column.name(), ColumnHeader.Role.valueOf(column.role().name()),
            type.equals("BINOMINAL") ? ColumnHeader.Type.BINOMINAL
                : type.endsWith("NOMINAL") ? ColumnHeader.Type.NOMINAL : ColumnHeader.Type.REAL,
            column.values()), table.column(c));
      }
    }
    return rows;
  }

  static GoldenRows ofNumbers(int rows, int columns) {
    Random random = new Random(1);
    GoldenRows made = new GoldenRows();
    for (int c = 0; c < columns; c++) {
      made.add(ColumnHeader.real("x" + c, ColumnHeader.Role.REGULAR), random.doubles(rows).toArray());
    }
    return made;
  }

  private void add(ColumnHeader header, double[] numbers) {
    headers.add(header);
    columns.add(numbers);
  }

  /** The features of a model of {@code train}, in its order and with its codes; what it does not know is missing. */
  GoldenRows inOrderOf(GoldenRows train) {
    GoldenRows queries = new GoldenRows();
    for (ColumnHeader wanted : train.headers) {
      if (wanted.role() != ColumnHeader.Role.REGULAR) {
        continue;
      }
      int at = 0;
      while (!headers.get(at).name().equals(wanted.name())) {
        at++;
      }
      double[] numbers = columns.get(at).clone();
      for (int row = 0; row < numbers.length && wanted.nominal(); row++) {
        int code = Double.isNaN(numbers[row]) ? -1
            : wanted.values().indexOf(headers.get(at).values().get((int) numbers[row]));
        numbers[row] = code < 0 ? Double.NaN : code;
      }
      queries.add(wanted, numbers);
    }
    return queries;
  }

  GoldenRows numericOnly() {
    GoldenRows some = new GoldenRows();
    for (int c = 0; c < headers.size(); c++) {
      if (!headers.get(c).nominal()) {
        some.add(headers.get(c), columns.get(c));
      }
    }
    return some;
  }

  GoldenRows regularOnly() {
    return inOrderOf(this);
  }

  List<ColumnHeader> headers() {
    return headers;
  }

  int size() {
    return columns.get(0).length;
  }

  ByteBuffer block() {
    ByteBuffer block = ByteBuffer.allocateDirect(8 * size() * columns.size()).order(ByteOrder.nativeOrder());
    for (int row = 0; row < size(); row++) {
      for (double[] column : columns) {
        block.putDouble(column[row]);
      }
    }
    block.clear();
    return block;
  }
}
