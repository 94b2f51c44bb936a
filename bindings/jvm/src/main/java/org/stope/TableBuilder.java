package org.stope;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;

/**
 * Makes a table of rows that come in blocks. First the columns are added, then rows. Blocks of some thousand rows are
 * best; a block costs one call. A builder belongs to one thread at a time.
 */
public final class TableBuilder extends NativeObject {
  private int columns;

  /**
   * Makes a builder without columns.
   *
   * @param expectedRows how many rows will come, so that memory is taken once; 0 if that is not known
   * @throws StopeException INVALID_ARGUMENT for a negative number; OUT_OF_MEMORY
   */
  public TableBuilder(long expectedRows) {
    super(Native.BUILDER, newHandle(expectedRows));
  }

  private TableBuilder(long handle, int columns) {
    super(Native.BUILDER, handle);
    this.columns = columns;
  }

  private static long newHandle(long expectedRows) {
    NativeLibrary.require();
    return Native.builderNew(expectedRows, 0);
  }

  /**
   * Makes a builder whose columns are the features of a model, in the model's order and with the model's codes. Its
   * tables are matched with the model without comparing a name or a value.
   *
   * @param model the model
   * @param expectedRows how many rows will come; 0 if that is not known
   * @return the builder, to which rows can be added at once
   * @throws StopeException INVALID_ARGUMENT for a negative number, or for a model that is closed
   */
  public static TableBuilder forModel(Model model, long expectedRows) {
    try (Call call = Call.brief()) {
      long builder = Native.builderForModel(call.use(model, "model"), expectedRows, 0);
      TableBuilder made = new TableBuilder(builder, 0);
      try (Table empty = made.finish()) { // A table without rows says how many columns there are.
        made.columns = empty.columns();
      }
      return made;
    }
  }

  /**
   * Adds a column, before the first rows.
   *
   * @param name its name, which no other column has
   * @param role what it is for
   * @param type what its values are
   * @param values the names of the codes 0, 1, ... of a nominal column; null or empty for others
   * @return this
   * @throws StopeException INVALID_ARGUMENT if there are rows, or if the name, a value, or the role LABEL, ID or WEIGHT is
   *     there already
   */
  public synchronized TableBuilder column(String name, Role role, ColumnType type, List<String> values) {
    byte[] utf8 = Text.utf8(name, "name");
    Arguments.required(role, "role");
    byte[] word = Text.utf8(Arguments.required(type, "type").word(), "type");
    byte[][] codes = Text.utf8(values == null ? Collections.<String>emptyList() : values, "values");
    long builder = handle.enter();
    try {
      Native.builderColumn(builder, utf8, role.ordinal(), word, codes);
      ++columns;
    } finally {
      handle.exit();
    }
    return this;
  }

  /**
   * Adds a column, before the first rows.
   *
   * @param column its description
   * @return this
   * @throws StopeException INVALID_ARGUMENT if there are rows, or if the name, a value, or the role LABEL, ID or WEIGHT is
   *     there already
   */
  public TableBuilder column(Column column) {
    Arguments.required(column, "column");
    return column(column.name(), column.role(), column.type(), column.values());
  }

  /**
   * Counts the columns.
   *
   * @return how many values a row has
   */
  public synchronized int columns() {
    return columns;
  }

  /**
   * Adds rows. Where it fails, no row was added, and the builder can be used further.
   *
   * @param rowMajor {@code nRows * columns()} values, row after row; codes in nominal columns; NaN is missing
   * @param nRows how many rows
   * @return this
   * @throws StopeException INVALID_ARGUMENT if the array is shorter, or for a code that has no name; OUT_OF_MEMORY
   */
  public synchronized TableBuilder append(double[] rowMajor, int nRows) {
    Table.checkPart("nRows", nRows, "columns", columns, "rowMajor", Arguments.required(rowMajor, "rowMajor").length);
    long builder = handle.enter();
    try {
      Native.builderAppend(builder, rowMajor, nRows, columns);
    } finally {
      handle.exit();
    }
    return this;
  }

  /**
   * Adds rows from a direct buffer, without a copy in between. Where it fails, no row was added, and the builder can be
   * used further.
   *
   * @param rowMajor {@code nRows * columns()} doubles, row after row, from its position on. It is direct, of native byte
   *     order, and aligned to 8 bytes. Its position stays. If it maps a file, nobody may shorten that file meanwhile: it
   *     would end the process.
   * @param nRows how many rows
   * @return this
   * @throws StopeException INVALID_ARGUMENT if the buffer does not fit, or for a code that has no name; OUT_OF_MEMORY
   */
  public synchronized TableBuilder append(ByteBuffer rowMajor, int nRows) {
    Table.checkBuffer(rowMajor, "rowMajor");
    Table.checkPart("nRows", nRows, "columns", columns, "rowMajor", rowMajor.remaining() / 8);
    long builder = handle.enter();
    try {
      Native.builderAppendDirect(builder, rowMajor, rowMajor.position(), rowMajor.limit(), nRows, columns);
    } finally {
      handle.exit();
    }
    return this;
  }

  /** Adds rows that lie in one array a column, of the same length. */
  synchronized TableBuilder appendColumns(double[][] arrays, long rows) {
    long builder = handle.enter();
    try {
      Native.builderAppendColumns(builder, arrays, rows);
    } finally {
      handle.exit();
    }
    return this;
  }

  /**
   * Makes a table of the rows. The builder then has none, and takes rows of the same columns again.
   *
   * @return the table
   */
  public synchronized Table finish() {
    long builder = handle.enter();
    try {
      return new Table(Native.builderFinish(builder));
    } finally {
      handle.exit();
    }
  }
}
