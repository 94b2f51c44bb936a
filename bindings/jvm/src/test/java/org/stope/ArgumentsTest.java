package org.stope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A wrong argument is INVALID_ARGUMENT and names the parameter. */
class ArgumentsTest {
  private static void refused(String parameter, Executable call) {
    StopeException error = assertThrows(StopeException.class, call);
    assertEquals(StopeException.Code.INVALID_ARGUMENT, error.code(), error.getMessage());
    assertEquals(parameter, error.option(), error.getMessage());
    assertTrue(error.getMessage().length() > 10, error.getMessage());
  }

  @Test
  void ofTables() {
    List<String> one = Arrays.asList("x");
    refused("names", () -> Table.ofColumns(null, new double[1]));
    refused("names", () -> Table.ofColumns(Arrays.asList("x", null), new double[1], new double[1]));
    refused("names", () -> Table.ofColumns(Arrays.asList("x", "y"), new double[1]));
    refused("columns", () -> Table.ofColumns(one, (double[][]) null));
    refused("columns", () -> Table.ofColumns(one, (double[]) null));
    refused("columns", () -> Table.ofColumns(Arrays.asList("x", "y"), new double[1], new double[2]));
    refused("schema", () -> Table.ofSchema(null, new double[1]));
    refused("schema", () -> Table.ofSchema(Collections.<Column>singletonList(null), new double[1]));
    refused("schema", () -> Table.ofSchema(Arrays.asList(Column.real("x"), Column.real("y")), new double[1]));
    refused("file", () -> Table.read(null, null, null));
    try (Table table = Table.ofColumns(one, new double[] {1, 2})) {
      refused("file", () -> table.write((Path) null, null));
      refused("column", () -> table.withRole(null, Role.LABEL));
      refused("role", () -> table.withRole("x", null));
      refused("column", () -> table.column((String) null));
      refused("column", () -> table.column("y"));
      refused("name", () -> table.indexOf(null));
      refused("to", () -> table.copy(0, 0, 1, 1, (double[]) null));
      refused("to", () -> table.copy(0, 0, 1, 1, (ByteBuffer) null));
      refused("to", () -> table.copy(0, 0, 2, 1, new double[1]));
      refused("to", () -> table.copy(0, 0, 1, 1, ByteBuffer.allocate(8)));
      refused("nRows", () -> table.copy(0, 0, -1, 1, new double[1]));
      refused("nColumns", () -> table.copy(0, 0, 1, -1, new double[1]));
    }
  }

  @Test
  void ofBuildersAndColumns() {
    try (TableBuilder builder = new TableBuilder(0)) {
      refused("name", () -> builder.column(null, Role.REGULAR, ColumnType.REAL, null));
      refused("role", () -> builder.column("x", null, ColumnType.REAL, null));
      refused("type", () -> builder.column("x", Role.REGULAR, null, null));
      refused(
          "values", () -> builder.column("x", Role.REGULAR, ColumnType.NOMINAL, Collections.<String>singletonList(null)));
      refused("column", () -> builder.column(null));
      builder.column(Column.real("x"));
      refused("rowMajor", () -> builder.append((double[]) null, 1));
      refused("rowMajor", () -> builder.append((ByteBuffer) null, 1));
      refused("rowMajor", () -> builder.append(new double[1], 2));
      refused("nRows", () -> builder.append(new double[1], -1));
    }
    refused("model", () -> TableBuilder.forModel(null, 0));
    refused("name", () -> Column.real(null));
    refused("values", () -> Column.nominal("x", (String[]) null));
    refused("values", () -> Column.nominal("x", "a", null));
    refused("values", () -> Column.of("x", Role.REGULAR, ColumnType.REAL, null));
    refused("type", () -> Column.of("x", Role.REGULAR, null, Collections.<String>emptyList()));
    refused("role", () -> Column.real("x").as(null));
  }

  @Test
  void ofModelsAndJobs() {
    refused("kind", () -> Model.fit(null, null, null, null));
    refused("train", () -> Model.fit("pca", null, null, null));
    refused("train", () -> Knn.searcher().fit(null, null));
    refused("bytes", () -> Model.fromBytes(null, null));
    refused("file", () -> Model.read(null, false, null));
    refused("model", () -> Knn.of(null));
    refused("model", () -> Pca.of(null));
    refused("job", () -> Jobs.compute(null, null, null, null, null));
    refused("table", () -> Jobs.compute("stats", null, null, null, null));
    refused("table", () -> Jobs.distances(null, null, null, null));
    refused("table", () -> Stats.describe(null, null, null));
    refused("job", () -> Stope.describeOptions(null));
    refused("job", () -> Stope.describeOptions("none"));
    refused("name", () -> Knn.classifier().metricParameter(null, 1));
    try (Table table = Table.ofColumns(Arrays.asList("x"), new double[] {1, 2});
        Table closed = Table.ofColumns(Arrays.asList("x"), new double[] {1, 2});
        Model model = Model.fit("neighbors", table, null, null)) {
      closed.close();
      refused("rows", () -> model.apply(null, null, null));
      refused("rows", () -> model.apply(closed, null, null));
      refused("other", () -> Jobs.distances(table, closed, null, null));
      refused("nNeighbors", () -> model.neighbors(table, 0, null, null));
      refused("nNeighbors", () -> model.neighbors(table, Integer.MAX_VALUE, null, null));
      refused("format", () -> model.text(null));
      refused("format", () -> model.text("svg"));
      refused("part", () -> model.table(null));
      refused("model", () -> Tree.of(model));
      refused("file", () -> model.write(null, null));
      Neighbors two = model.neighbors(table, 2, null, null);
      refused("parts", () -> Neighbors.merge(two, model.neighbors(table, 1, null, null)));
      refused("parts", () -> Neighbors.merge(two, null));
    }
    refused("parts", () -> Neighbors.merge((Neighbors[]) null));
    refused("parts", () -> Neighbors.merge());
  }

  @Test
  void ofOptionsAndRuns() {
    refused("name", () -> new Options().set(null, "x"));
    refused("name", () -> new Options().set(null, 1, 2));
    refused("value", () -> new Options().set("ignore", Arrays.asList("x", null)));
    refused("value", () -> new Options().set("ignore", new String[] {"x", null}));
    refused("nameValuePairs", () -> Options.of((String[]) null));
    refused("nameValuePairs", () -> Options.of("metric"));
    refused("name", () -> Options.of(null, "x"));
    try (Run run = new Run()) {
      refused("device", () -> run.device(null));
      refused("size", () -> run.memoryLimit(null));
    }
  }

  @Test
  void ofArrow() {
    refused("root", () -> ArrowTables.of(null, null, null, null, null));
    refused("reader", () -> ArrowTables.of(null, null, null, null));
    refused("dictionaries", () -> ArrowTables.toArrow(null, null, null));
  }
}
