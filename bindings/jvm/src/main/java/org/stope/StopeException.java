package org.stope;

/**
 * Every failure of the engine. The message is one sentence that says what is wrong and where. The other members say the
 * same to programs.
 */
public class StopeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of failure. */
  public enum Code {
    /** The caller asked for something impossible, or used an object that is closed. */
    INVALID_ARGUMENT,
    /** The data or the file is malformed or inconsistent. */
    INVALID_DATA,
    /** The request is well-formed, but stope, or this platform, cannot do it. */
    UNSUPPORTED,
    /** The job needs more bytes than the memory limit or the machine allows. */
    OUT_OF_MEMORY,
    /** The device that was asked for is not available. */
    DEVICE_UNAVAILABLE,
    /** A GPU failed in the middle of a job. */
    DEVICE_LOST,
    /** {@link Run#cancel()} or a thread's interrupt ended the job. */
    CANCELLED,
    /** The operating system refused to open, read, write or rename. */
    IO,
    /** A defect of stope. */
    INTERNAL
  }

  private final Code code;
  private final String option;
  private final String feature;
  private final long row;
  private final long line;
  private final long column;
  private final long bytes;

  /**
   * Makes a failure without a place.
   *
   * @param code its kind
   * @param message one sentence
   */
  public StopeException(Code code, String message) {
    this(code, message, "", "", -1, 0, 0, -1);
  }

  StopeException(Code code, String message, String option) {
    this(code, message, option, "", -1, 0, 0, -1);
  }

  StopeException(
      Code code, String message, String option, String feature, long row, long line, long column, long bytes) {
    super(message);
    this.code = code;
    this.option = option;
    this.feature = feature;
    this.row = row;
    this.line = line;
    this.column = column;
    this.bytes = bytes;
  }

  /**
   * Says which kind of failure it is.
   *
   * @return the kind
   */
  public Code code() {
    return code;
  }

  /**
   * Names what is wrong: an option of the engine, or the parameter of the function that was called.
   *
   * @return its name, or "" if none is
   */
  public String option() {
    return option;
  }

  /**
   * Names the column of the table that is concerned.
   *
   * @return its name, cut to 255 bytes, or "" if none is
   */
  public String feature() {
    return feature;
  }

  /**
   * Says which row of a table is concerned.
   *
   * @return the row, from 0, or -1 if it is not known
   */
  public long row() {
    return row;
  }

  /**
   * Says which line of a file is concerned.
   *
   * @return the line, from 1, or 0 if it is not known
   */
  public long line() {
    return line;
  }

  /**
   * Says where in the line the trouble is.
   *
   * @return the byte of the line, from 1, or 0 if it is not known
   */
  public long column() {
    return column;
  }

  /**
   * Says which memory limit would do, if memory was short.
   *
   * @return bytes, or -1 if they are not known
   */
  public long bytes() {
    return bytes;
  }
}
