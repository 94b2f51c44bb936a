package org.stope;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TableTest {
  private static final double NAN = Double.NaN;

  static StopeException.Code codeOf(Runnable call) {
    return assertThrows(StopeException.class, call::run).code();
  }

  private static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  @Test
  void columnsOfNumbers() {
    try (Table table = Table.ofColumns(Arrays.asList("a", "b"), new double[] {1, NAN, 3}, new double[] {4, 5, 6})) {
      assertEquals(3, table.rows());
      assertEquals(2, table.columns());
      assertArrayEquals(new double[] {1, NAN, 3}, table.column("a"));
      assertArrayEquals(new double[] {4, 5, 6}, table.column(1));
      assertEquals(ColumnType.REAL, table.schema().get(0).type());
      assertEquals(Role.REGULAR, table.schema().get(0).role());
      double[] part = new double[4];
      table.copy(1, 0, 2, 2, part);
      assertArrayEquals(new double[] {NAN, 5, 3, 6}, part);
      try (Table labelled = table.withRole("b", Role.LABEL)) {
        assertEquals(Role.LABEL, labelled.schema().get(1).role());
        assertEquals(Role.REGULAR, table.schema().get(1).role());
      }
    }
  }

  @Test
  void schemaOfEveryKind() {
    Column color = Column.nominal("color", "red", "green, blue", "").as(Role.LABEL);
    Column day = Column.of("day", Role.ID, ColumnType.DATE, Collections.<String>emptyList());
    try (Table table =
        Table.ofSchema(Arrays.asList(color, day), new double[] {2, NAN, 0}, new double[] {0, 86400000, NAN})) {
      assertEquals(color.toString(), table.schema().get(0).toString());
      assertEquals(Arrays.asList("red", "green, blue", ""), table.schema().get(0).values());
      assertEquals(ColumnType.DATE, table.schema().get(1).type());
      assertEquals(Role.ID, table.schema().get(1).role());
      assertEquals("", table.text(0, 0));
      assertNull(table.text(1, 0));
      assertEquals("red", table.text(2, 0));
      assertEquals("86400000", table.text(1, 1));
      assertNull(table.text(2, 1));
    }
  }

  /** Names cross the border as UTF-8: quotes, line breaks, and characters beyond 16 bits arrive as they were. */
  @Test
  void namesOfEveryKind() {
    String odd = "a\"b\\c\n\t\u0001 \u00e9 \u20ac \ud83d\ude00 \ud7ff\ue000";
    try (Table table = Table.ofSchema(Collections.singletonList(Column.nominal(odd, odd + "1")), new double[] {0})) {
      assertEquals(odd, table.schema().get(0).name());
      assertEquals(odd + "1", table.text(0, 0));
      assertEquals(0, table.indexOf(odd));
    }
    for (String bad : new String[] {"nul\0", "half \ud83d", "half \ude00 x"}) {
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT,
          codeOf(() -> Table.ofColumns(Collections.singletonList(bad), new double[] {1})));
    }
    assertEquals(
        StopeException.Code.INVALID_ARGUMENT,
        codeOf(() -> Table.ofColumns(Collections.<String>singletonList(null), new double[] {1})));
  }

  @Test
  void wrongShapes() {
    assertEquals(
        StopeException.Code.INVALID_ARGUMENT,
        codeOf(() -> Table.ofColumns(Arrays.asList("a", "b"), new double[] {1}, new double[] {1, 2})));
    assertEquals(
        StopeException.Code.INVALID_ARGUMENT, codeOf(() -> Table.ofColumns(Arrays.asList("a", "b"), new double[] {1})));
    try (Table table = Table.ofColumns(Arrays.asList("a"), new double[] {1, 2})) {
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.column(1)));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.column(-1)));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.column("b")));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.copy(0, 0, 2, 1, new double[1])));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.copy(1, 0, 2, 1, new double[2])));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.copy(0, 0, -1, 1, new double[2])));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.copy(0, 0, 1, 1, (double[]) null)));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.text(2, 0)));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.withRole("b", Role.ID)));
    }
  }

  @Test
  void numbersReadBackTheSame() {
    double[] numbers = {2e23, -0.0, 0.0, 1e15, -7, 0.1, 1e-300, Double.MAX_VALUE, Double.POSITIVE_INFINITY};
    try (Table table = Table.ofColumns(Arrays.asList("x"), numbers)) {
      for (int row = 0; row < numbers.length; ++row) {
        assertEquals(numbers[row], Double.parseDouble(table.text(row, 0)), table.text(row, 0));
        assertEquals(1 / numbers[row], 1 / Double.parseDouble(table.text(row, 0)), table.text(row, 0));
      }
      assertEquals("-0.0", table.text(1, 0));
      assertEquals("0", table.text(2, 0));
      assertEquals("-7", table.text(4, 0));
    }
  }

  /** What is there already is refused, as the documentation says. */
  @Test
  void whatRepeatsIsRefused() {
    try (TableBuilder builder = new TableBuilder(0)) {
      builder.column(Column.real("x").as(Role.LABEL));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> builder.column(Column.real("x"))));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> builder.column(Column.nominal("c", "p", "p"))));
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT, codeOf(() -> builder.column(Column.real("y").as(Role.LABEL))));
      assertEquals(1, builder.columns());
      builder.append(new double[] {1}, 1).column(Column.real("late"));
    } catch (StopeException e) {
      assertEquals(StopeException.Code.INVALID_ARGUMENT, e.code()); // There are rows.
    }
    try (Table table =
        Table.ofSchema(
            Arrays.asList(Column.real("a").as(Role.ID), Column.real("b")), new double[] {1}, new double[] {2})) {
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> table.withRole("b", Role.ID)));
      table.withRole("a", Role.ID).close();
      table.withRole("b", Role.LABEL).close();
    }
    try (TableBuilder builder = new TableBuilder(0).column(Column.nominal("c", "p", "q"))) {
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> builder.append(new double[] {2}, 1)));
    }
  }

  /** More columns and names than JNI has room for at once, if it is not told which are done with. */
  @Test
  void wideTables() {
    String[] names = new String[300];
    double[][] columns = new double[300][];
    Column[] schema = new Column[300];
    for (int i = 0; i < 300; ++i) {
      names[i] = "c" + i;
      columns[i] = new double[] {i};
      schema[i] = Column.real("c" + i);
    }
    schema[299] = Column.nominal("last", names);
    try (Table plain = Table.ofColumns(Arrays.asList(names), columns);
        Table typed = Table.ofSchema(Arrays.asList(schema), columns)) {
      assertEquals(299, plain.column("c299")[0]);
      assertEquals("c299", typed.text(0, 299));
    }
  }

  /** More rows than one part of a copy. */
  @Test
  void longCopies() {
    int n = 20001;
    double[] a = new double[n];
    double[] b = new double[n];
    for (int i = 0; i < n; ++i) {
      a[i] = i;
      b[i] = -i;
    }
    try (Table table = Table.ofColumns(Arrays.asList("a", "b"), a, b)) {
      double[] all = new double[2 * n];
      table.copy(0, 0, n, 2, all);
      ByteBuffer buffer = direct(16 * n);
      table.copy(0, 0, n, 2, buffer);
      for (int i = 0; i < n; ++i) {
        assertEquals(i, all[2 * i]);
        assertEquals(-i, all[2 * i + 1], 0.0);
        assertEquals(i, buffer.getDouble(16 * i));
      }
      assertArrayEquals(b, table.column("b"), 0.0);
    }
  }

  @Test
  void builderTakesBlocks() {
    try (TableBuilder builder = new TableBuilder(4)) {
      builder.column("x", Role.REGULAR, ColumnType.REAL, null).column(Column.nominal("c", "p", "q"));
      assertEquals(2, builder.columns());
      builder.append(new double[] {1, 0, 2, 1, 99, 99}, 2);
      ByteBuffer buffer = direct(40);
      buffer.putDouble(8, 3).putDouble(16, NAN).putDouble(24, NAN).putDouble(32, 1).position(8);
      builder.append(buffer, 2);
      assertEquals(8, buffer.position());
      try (Table table = builder.finish()) {
        assertArrayEquals(new double[] {1, 2, 3, NAN}, table.column("x"));
        assertArrayEquals(new double[] {0, 1, NAN, 1}, table.column("c"));
      }
      builder.append(new double[] {7, 1}, 1);
      try (Table table = builder.finish()) { // The same columns again.
        assertEquals(1, table.rows());
        assertEquals("q", table.text(0, 1));
      }
    }
  }

  @Test
  void builderRefusesAndGoesOn() {
    try (TableBuilder builder = new TableBuilder(0)) {
      builder.column(Column.nominal("c", "p", "q"));
      builder.append(new double[] {0}, 1);
      assertTrue(
          Arrays.asList(StopeException.Code.INVALID_ARGUMENT, StopeException.Code.INVALID_DATA)
              .contains(codeOf(() -> builder.append(new double[] {1, 2}, 2))));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> builder.append(new double[] {1}, 2)));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> builder.append(ByteBuffer.allocate(8), 1)));
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT, codeOf(() -> builder.append(ByteBuffer.allocateDirect(8), 1)));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> builder.append(direct(7), 1)));
      ByteBuffer crooked = direct(24);
      crooked.position(1);
      assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> builder.append(crooked, 1)));
      try (Table table = builder.finish()) {
        assertEquals(1, table.rows());
      }
    }
    assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> new TableBuilder(-1).close()));
  }

  @Test
  void readOnlyBufferIsNotWritten() {
    try (Table table = Table.ofColumns(Arrays.asList("a"), new double[] {1})) {
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT,
          codeOf(() -> table.copy(0, 0, 1, 1, direct(8).asReadOnlyBuffer().order(ByteOrder.nativeOrder()))));
    }
  }

  @Test
  void filesThereAndBack(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("t \u00e9\u20ac.csv");
    try (Table table = Table.ofColumns(Arrays.asList("a", "b"), new double[] {1, 2}, new double[] {0.1, NAN})) {
      table.write(file, null);
    }
    try (Table table = Table.read(file, Options.of("target", "b"), null)) {
      assertArrayEquals(new double[] {0.1, NAN}, table.column("b"));
      assertEquals(Role.LABEL, table.schema().get(1).role());
    }
    assertEquals(StopeException.Code.IO, codeOf(() -> Table.read(folder.resolve("none.csv"), null, null)));
    assertEquals(
        StopeException.Code.IO, codeOf(() -> Table.ofColumns(Arrays.asList("a"), new double[] {1})
            .write(folder.resolve("none").resolve("x.csv"), null)));
  }

  /** Lists of names keep the commas and quotes inside a name. */
  @Test
  void optionsAreSpelled(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("odd.csv");
    Files.write(file, "\"a,b\",\"c\"\"d\",e,f\n1,2,3,4\n5,6,7,8\n".getBytes(StandardCharsets.UTF_8));
    Options options = new Options().set("ignore", Arrays.asList("a,b", "c\"d")).set("nominal", new String[] {"e"});
    try (Table table = Table.read(file, options.set("target", "f").set("skip_lines", 0), null)) {
      assertEquals(Arrays.asList("a,b", "c\"d", "e", "f"), table.names());
      assertEquals(Role.IGNORE, table.schema().get(0).role());
      assertEquals(Role.IGNORE, table.schema().get(1).role());
      assertTrue(table.schema().get(2).type().isNominal());
    }
    assertEquals("{a=1, c=true, role=label}",
        new Options().set("a", 1).set("b", 2.5).set("c", true).set("b", null).set("role", Role.LABEL).toString());
    try (Table train = Table.ofColumns(Arrays.asList("x", "y"), new double[] {0, 3}, new double[] {0, 4});
        Model model = Model.fit("neighbors", train, new Options().set("feature_weights", 1, 0), null)) {
      assertEquals(3, model.neighbors(train, 2, null, null).distances()[1]);
    }
  }

  /** One number is a single value or a list of one; several are a list only. */
  @Test
  void numbersAsOptions() {
    assertEquals("{feature_weights=[1.0, 0.5]}", new Options().set("feature_weights", 1, 0.5).toString());
    try (Table train = ModelTest.labelled(10, 1, true);
        Table x = Table.ofColumns(Arrays.asList("x"), new double[] {0, 3})) {
      for (Options three :
          new Options[] {
            new Options().set("n_neighbors", new double[] {3}), new Options().set("n_neighbors", 3.0),
            new Options().set("n_neighbors", (Object) new double[] {3}),
            new Options().set("n_neighbors", new Double[] {3.0}), new Options().set("n_neighbors", new int[] {3}),
            new Options().set("n_neighbors", Arrays.asList(3.0)), new Options().set("n_neighbors", 3)
          }) {
        assertEquals("{n_neighbors=3}", three.toString());
        try (Model model = Model.fit("classify", train, three, null);
            Table predicted = model.apply(train, Options.of("proba", "true"), null)) {
          double thirds = 3 * predicted.column("confidence(low)")[0];
          assertEquals(Math.rint(thirds), thirds, 1e-12);
        }
      }
      StopeException several =
          assertThrows(
              StopeException.class,
              () -> Model.fit("classify", train, new Options().set("n_neighbors", 3, 4), null));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, several.code());
      assertEquals("n_neighbors", several.option());
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT,
          codeOf(() -> Model.fit("classify", train, new Options().set("n_neighbors", new double[0]), null)));
      try (Model model = Model.fit("neighbors", x, new Options().set("feature_weights", new double[] {0.25}), null)) {
        assertEquals(1.5, model.neighbors(x, 2, null, null).distances()[1]);
      }
    }
  }

  @Test
  void errorsNameThePlace(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("bad.csv");
    Files.write(file, "a,b\n1,2\n3\n".getBytes(StandardCharsets.UTF_8));
    StopeException error = assertThrows(StopeException.class, () -> Table.read(file, null, null));
    assertEquals(StopeException.Code.INVALID_DATA, error.code());
    assertEquals(3, error.line());
    assertTrue(error.getMessage().contains("bad.csv:3"), error.getMessage());
    assertEquals(-1, error.row());
  }

  @Test
  void closedTableIsRefused() {
    Table table = Table.ofColumns(Arrays.asList("a"), new double[] {1});
    table.close();
    table.close();
    StopeException error = assertThrows(StopeException.class, () -> table.column(0));
    assertEquals("the table is closed", error.getMessage());
    assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(table::schema));
    assertEquals(StopeException.Code.INVALID_ARGUMENT, codeOf(() -> Model.fit("pca", table, null, null)));
  }
}
