package org.stope;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Typed columns of equal length, in the engine's memory. A table never changes: several threads may use one at once. Rows
 * and columns count from 0. Missing values are NaN. Nominal values are codes from 0 on, which {@link Column#values()}
 * names.
 */
public final class Table extends NativeObject {
  /** As many elements as every JVM gives an array. */
  static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

  private final long rows;
  private final int columns;
  private volatile List<Column> schema;

  Table(long handle) {
    super(Native.TABLE, handle);
    rows = Native.tableRows(handle);
    columns = (int) Native.tableColumns(handle);
  }

  /**
   * Reads a file of the format of its suffix: CSV, ARFF, NPY, Arrow and others, compressed or not. A plain file of 1 MiB
   * or more is mapped meanwhile: nobody may shorten it until the call returns, as that would end the process.
   *
   * @param file the file
   * @param options of the job "read"; may be null
   * @param run may be null
   * @return its table
   * @throws StopeException IO if it cannot be read; INVALID_DATA, with line and column, if it is malformed; CANCELLED
   */
  public static Table read(Path file, Options options, Run run) {
    byte[] path = Text.path(file, "file");
    try (Call call = Call.job(options, run)) {
      return new Table(Native.tableRead(path, call.options(), call.run()));
    }
  }

  /**
   * Makes a table of numeric features. The values are copied once.
   *
   * @param names one name a column
   * @param columns one array a column, all of the same length; NaN is missing
   * @return a table of {@code columns[0].length} rows
   * @throws StopeException INVALID_ARGUMENT if lengths or names do not fit
   */
  public static Table ofColumns(List<String> names, double[]... columns) {
    byte[][] utf8 = Text.utf8(names, "names");
    long rows = commonLength(utf8.length, "names", columns);
    try (Call call = Call.job(null, null)) {
      return new Table(Native.tableOfColumns(utf8, columns, rows, call.run()));
    }
  }

  /**
   * Makes a table of columns of any type and role. The values are copied.
   *
   * @param schema one description a column
   * @param columns one array a column, all of the same length; nominal columns hold codes; NaN is missing
   * @return a table of {@code columns[0].length} rows
   * @throws StopeException INVALID_ARGUMENT or INVALID_DATA if lengths, names or codes do not fit
   */
  public static Table ofSchema(List<Column> schema, double[]... columns) {
    Arguments.requiredAll("schema", schema);
    long rows = commonLength(schema.size(), "schema", columns);
    try (TableBuilder builder = new TableBuilder(rows)) {
      for (Column column : schema) {
        builder.column(column);
      }
      return builder.appendColumns(columns, rows).finish();
    }
  }

  private static long commonLength(int named, String parameter, double[][] columns) {
    Arguments.requiredAll("columns", columns);
    if (named != columns.length) {
      throw Arguments.wrong(
          parameter, named + " columns have a name, and " + columns.length + " columns have values");
    }
    for (double[] column : columns) {
      if (column.length != columns[0].length) {
        throw Arguments.wrong(
            "columns", "a column has " + column.length + " values, and the first one has " + columns[0].length);
      }
    }
    return columns.length == 0 ? 0 : columns[0].length;
  }

  /**
   * Counts the rows.
   *
   * @return the number of rows
   */
  public long rows() {
    return rows;
  }

  /**
   * Counts the columns, of every role.
   *
   * @return the number of columns
   */
  public int columns() {
    return columns;
  }

  /**
   * Describes the columns. The first call makes the list, later ones return it.
   *
   * @return one description a column, in their order; unmodifiable
   */
  public List<Column> schema() {
    List<Column> made = schema;
    if (made == null) {
      long table = handle.enter();
      String json;
      try {
        json = Text.string(Native.tableSchema(table));
      } finally {
        handle.exit();
      }
      made = new ArrayList<>();
      for (Map<String, Object> column : Json.objects(json)) {
        made.add(described(column));
      }
      schema = made = Collections.unmodifiableList(made);
    }
    return made;
  }

  private static Column described(Map<String, Object> column) {
    @SuppressWarnings("unchecked")
    List<String> values = (List<String>) column.get("values");
    return Column.of(
        (String) column.get("name"),
        Role.valueOf(((String) column.get("role")).toUpperCase(java.util.Locale.ROOT)),
        ColumnType.valueOf(((String) column.get("type")).toUpperCase(java.util.Locale.ROOT)),
        values == null ? Collections.<String>emptyList() : values);
  }

  /**
   * Finds a column by its name.
   *
   * @param name the name
   * @return its number, from 0, or -1 if no column has that name
   */
  public int indexOf(String name) {
    Arguments.required(name, "name");
    List<Column> all = schema();
    for (int i = 0; i < all.size(); ++i) {
      if (all.get(i).name().equals(name)) {
        return i;
      }
    }
    return -1;
  }

  /**
   * Makes a table of the same values in which one column has another role. Both tables share the memory.
   *
   * @param column the name of the column
   * @param role its new role
   * @return a new table
   * @throws StopeException INVALID_ARGUMENT if there is no such column, or if another column has the role LABEL, ID or
   *     WEIGHT that this one should get
   */
  public Table withRole(String column, Role role) {
    byte[] name = Text.utf8(column, "column");
    Arguments.required(role, "role");
    try (Call call = Call.brief()) {
      return new Table(Native.tableWithRole(call.useThis(this), name, role.ordinal()));
    }
  }

  /**
   * Copies one column.
   *
   * @param column its number, from 0
   * @return {@link #rows()} values; codes for a nominal column, NaN for missing ones
   * @throws StopeException INVALID_ARGUMENT if there is no such column or its rows do not fit an array
   */
  public double[] column(int column) {
    if (rows > MAX_ARRAY) {
      throw Arguments.wrong("column", rows + " values do not fit an array: copy them in parts");
    }
    double[] values = new double[(int) rows];
    copy(0, column, (int) rows, 1, values);
    return values;
  }

  /**
   * Copies one column.
   *
   * @param column its name
   * @return {@link #rows()} values; codes for a nominal column, NaN for missing ones
   * @throws StopeException INVALID_ARGUMENT if there is no such column or its rows do not fit an array
   */
  public double[] column(String column) {
    int index = indexOf(Arguments.required(column, "column"));
    if (index < 0) {
      throw Arguments.wrong("column", "the table has no column '" + column + "'");
    }
    return column(index);
  }

  /**
   * Copies a part of the table to an array. It takes no memory beside.
   *
   * @param firstRow the first row
   * @param firstColumn the first column
   * @param nRows how many rows
   * @param nColumns how many columns
   * @param to takes {@code nRows * nColumns} values, row after row
   * @throws StopeException INVALID_ARGUMENT if the table has no such part or the array is shorter
   */
  public void copy(long firstRow, int firstColumn, int nRows, int nColumns, double[] to) {
    checkPart("nRows", nRows, "nColumns", nColumns, "to", Arguments.required(to, "to").length);
    // Parts of about 64 KB go through native memory, so that the garbage collector never waits for a copy.
    int step = Math.max(1, 8192 / Math.max(1, nColumns));
    try (Call call = Call.brief()) {
      long table = call.useThis(this);
      int done = 0;
      do {
        int n = Math.min(step, nRows - done);
        Native.tableCopy(table, firstRow + done, firstColumn, n, nColumns, to, done * nColumns);
        done += n;
      } while (done < nRows);
    }
  }

  /**
   * Copies a part of the table to a direct buffer, without a copy in between.
   *
   * @param firstRow the first row
   * @param firstColumn the first column
   * @param nRows how many rows
   * @param nColumns how many columns
   * @param to takes {@code nRows * nColumns} doubles, row after row, from its position on. It is direct, writable, of
   *     native byte order, and aligned to 8 bytes. Its position stays. If it maps a file, nobody may shorten that file
   *     meanwhile: it would end the process.
   * @throws StopeException INVALID_ARGUMENT if the table has no such part, or if the buffer does not fit
   */
  public void copy(long firstRow, int firstColumn, int nRows, int nColumns, ByteBuffer to) {
    checkBuffer(to, "to");
    if (to.isReadOnly()) {
      throw Arguments.wrong("to", "the buffer cannot be written");
    }
    checkPart("nRows", nRows, "nColumns", nColumns, "to", to.remaining() / 8);
    try (Call call = Call.brief()) {
      Native.tableCopyDirect(
          call.useThis(this), firstRow, firstColumn, nRows, nColumns, to, to.position(), to.limit());
    }
  }

  /** Refuses a part that is negative, or for which there is no room. The texts name the parameters. */
  static void checkPart(String rowsName, int nRows, String columnsName, int nColumns, String roomName, long room) {
    if (nRows < 0 || nColumns < 0) {
      throw Arguments.wrong(
          nRows < 0 ? rowsName : columnsName, nRows + " rows of " + nColumns + " columns are no part of a table");
    }
    if ((long) nRows * nColumns > room) {
      throw Arguments.wrong(
          roomName, nRows + " rows of " + nColumns + " columns do not fit the " + room + " values that there is room for");
    }
  }

  static void checkBuffer(ByteBuffer buffer, String parameter) {
    if (!Arguments.required(buffer, parameter).isDirect()) {
      throw Arguments.wrong(parameter, "the buffer is not direct: use ByteBuffer.allocateDirect()");
    }
    if (buffer.order() != ByteOrder.nativeOrder()) {
      throw Arguments.wrong(
          parameter, "the buffer's byte order is not the machine's: use order(ByteOrder.nativeOrder())");
    }
  }

  /**
   * Tells one value as text.
   *
   * @param row the row
   * @param column the column
   * @return the name of a nominal value, or a number that reads back the same, or null for a missing value
   * @throws StopeException INVALID_ARGUMENT if the table has no such cell
   */
  public String text(long row, int column) {
    double[] value = new double[1];
    copy(row, column, 1, 1, value);
    if (Double.isNaN(value[0])) {
      return null;
    }
    Column described = schema().get(column);
    if (described.type().isNominal()) {
      return described.values().get((int) value[0]);
    }
    return Text.number(value[0]);
  }

  /**
   * Writes the table in the format of the file's suffix. The file is absent, old or complete at any time.
   *
   * @param file the file
   * @param run may be null
   * @throws StopeException IO if it cannot be written; UNSUPPORTED for a suffix that stope does not write; CANCELLED
   */
  public void write(Path file, Run run) {
    byte[] path = Text.path(file, "file");
    try (Call call = Call.job(null, run)) {
      Native.tableWrite(call.useThis(this), path, call.run());
    }
  }

  @Override
  public String toString() {
    return "table of " + rows + " rows and " + columns + " columns";
  }

  /** The names of all columns, for messages and tests. */
  List<String> names() {
    String[] names = new String[columns];
    for (int i = 0; i < columns; ++i) {
      names[i] = schema().get(i).name();
    }
    return Arrays.asList(names);
  }
}
