package org.stope;

/** What is loaded, and what this machine has. */
public final class Stope {
  private Stope() {}

  /**
   * Names the version of the engine.
   *
   * @return for instance "0.1.0"
   * @throws StopeException UNSUPPORTED if this machine has no native library of stope
   */
  public static String version() {
    NativeLibrary.require();
    return Text.string(Native.version());
  }

  /**
   * Says which version of the C ABI is loaded.
   *
   * @return {@code major << 16 | minor}
   * @throws StopeException UNSUPPORTED if this machine has no native library of stope
   */
  public static int abi() {
    NativeLibrary.require();
    return Native.abi();
  }

  /**
   * Tells what the machine has: CPU, threads, memory, back ends and GPUs, with the reasons why one is not used.
   *
   * @return a JSON object
   * @throws StopeException UNSUPPORTED if this machine has no native library of stope
   */
  public static String devices() {
    NativeLibrary.require();
    return Text.string(Native.devices());
  }

  /**
   * Tells the measures of distance and their parameters.
   *
   * @return JSON
   * @throws StopeException UNSUPPORTED if this machine has no native library of stope
   */
  public static String metrics() {
    NativeLibrary.require();
    return Text.string(Native.metrics());
  }

  /**
   * Tells the options of a job, of a kind of model, or of "read" or "apply".
   *
   * @param job for instance "classify" or "stats"
   * @return a JSON list of objects with "name", "type", "default", "choices" and "help"
   * @throws StopeException INVALID_ARGUMENT if there is no such job; UNSUPPORTED if this machine has no native library
   */
  public static String describeOptions(String job) {
    NativeLibrary.require();
    byte[] options = Native.describeOptions(Text.utf8(job, "job"));
    if (options == null) {
      throw Arguments.wrong("job", "there is no job '" + job + "'");
    }
    return Text.string(options);
  }

  /**
   * Says whether the native library can be used here, and why not. It never throws.
   *
   * @return "" if it can be used; else one sentence
   */
  public static String unavailableBecause() {
    return NativeLibrary.problem();
  }
}
