package org.stope;

/** Something that a job did and its caller may not expect. Immutable. */
public final class Warning {
  private final String code;
  private final String text;

  Warning(String code, String text) {
    this.code = code;
    this.text = text;
  }

  /**
   * Names the kind of warning to programs.
   *
   * @return a word that does not change between versions
   */
  public String code() {
    return code;
  }

  /**
   * Says it to people.
   *
   * @return one sentence
   */
  public String text() {
    return text;
  }

  @Override
  public String toString() {
    return code + ": " + text;
  }
}
