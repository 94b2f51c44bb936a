package org.stope;

import java.nio.ByteBuffer;

/**
 * The functions of the C ABI, as src/main/native/ registers them. Handles are numbers that are never followed, so that a
 * wrong one is refused. Text is UTF-8 without a NUL. Each function that can fail throws a {@link StopeException}. A table,
 * options or run may be 0: none.
 */
final class Native {
  private Native() {}

  /** Kinds of handles, for {@link #free}. */
  static final int RUN = 0, OPTIONS = 1, TABLE = 2, BUILDER = 3, MODEL = 4, LISTS = 5;

  static native void free(int kind, long handle);

  // ---- the machine ----
  static native int abi();

  static native byte[] version();

  static native byte[] devices();

  static native byte[] metrics();

  static native byte[] describeOptions(byte[] job);

  // ---- runs and options ----
  static native long runNew();

  static native void runSet(long run, byte[] name, byte[] value);

  static native void runCancel(long run);

  /** Takes a cancel back and keeps report and warnings. */
  static native void runResume(long run);

  static native void runReset(long run);

  /** Fills {@code phase} (32 bytes, ended by NUL) and {done, total}; returns 1 while a job runs. */
  static native int runProgress(long run, byte[] phase, long[] doneAndTotal);

  /** Copies what the jobs that have ended left, at any time. */
  static native byte[] runReport(long run);

  static native byte[] runWarnings(long run);

  static native long optionsNew();

  static native void optionsSet(long options, byte[] name, byte[] value);

  static native void optionsSetDoubles(long options, byte[] name, double[] values);

  // ---- tables ----
  static native long tableRead(byte[] path, long options, long run);

  /** Columns of numbers, each of {@code rows} values. */
  static native long tableOfColumns(byte[][] names, double[][] columns, long rows, long run);

  /** Moves an ArrowArrayStream in, whose address it is. */
  static native long tableOfArrowStream(long stream, long options, long run);

  /** Moves an ArrowSchema and an ArrowArray in, whose addresses they are. */
  static native long tableOfArrow(long schema, long array, long options, long run);

  static native void tableToArrow(long table, long schema, long array);

  static native long tableRows(long table);

  static native long tableColumns(long table);

  static native byte[] tableSchema(long table);

  static native long tableWithRole(long table, byte[] column, int role);

  /** Copies rows and columns to a row-major array, from {@code offset} on. */
  static native void tableCopy(
      long table, long firstRow, long firstColumn, int rows, int columns, double[] to, int offset);

  /** The same to a direct buffer in native byte order; {@code offset} and {@code limit} are bytes. */
  static native void tableCopyDirect(
      long table, long firstRow, long firstColumn, int rows, int columns, ByteBuffer to, int offset, int limit);

  static native void tableWrite(long table, byte[] path, long run);

  // ---- builders ----
  static native long builderNew(long rows, long run);

  static native long builderForModel(long model, long rows, long run);

  static native void builderColumn(long builder, byte[] name, int role, byte[] type, byte[][] values);

  static native void builderAppend(long builder, double[] from, int rows, int columns);

  static native void builderAppendDirect(
      long builder, ByteBuffer from, int offset, int limit, int rows, int columns);

  static native void builderAppendColumns(long builder, double[][] columns, long rows);

  static native long builderFinish(long builder);

  // ---- jobs and models ----
  static native long compute(byte[] job, long table, long other, long options, long run);

  /** Fills {@code rowCount * columnCount} distances, row-major. */
  static native void pairwiseDistances(
      long table, long other, long options, long run, int rowCount, int columnCount, double[] to);

  static native long fit(byte[] kind, long train, long options, long run);

  static native long apply(long model, long rows, long options, long run);

  static native byte[] modelInfo(long model);

  static native byte[] modelText(long model, byte[] format);

  static native long modelTable(long model, byte[] part);

  static native byte[] modelBytes(long model);

  static native long modelOfBytes(byte[] bytes, long run);

  static native long modelRead(byte[] path, boolean map, long run);

  static native void modelWrite(long model, byte[] path, long run);

  static native void modelReleaseDevices(long model);

  // ---- neighbours ----
  /** Fills row-major lists of {@code n} entries for each of {@code rowCount} rows. */
  static native void neighbors(
      long model, long rows, int n, long options, long run, long[] indices, double[] distances);

  static native long radiusNeighbors(long model, long rows, double radius, long options, long run);

  static native long listsRows(long lists);

  static native long listsEntries(long lists);

  static native void listsCopy(long lists, long[] offsets, long[] indices, double[] distances);

  static native void mergeNeighbors(
      int parts, long stride, int queries, int n, long[] indices, double[] distances, long[] toIndices, double[] toDistances);

  // ---- called by the native side ----
  static StopeException failure(
      int code, byte[] message, byte[] option, byte[] feature, long row, long line, long column, long bytes) {
    StopeException.Code[] codes = StopeException.Code.values();
    StopeException.Code kind =
        code >= 1 && code <= codes.length ? codes[code - 1] : StopeException.Code.INTERNAL;
    return new StopeException(
        kind, Text.string(message), Text.string(option), Text.string(feature), row, line, column, bytes);
  }
}
