package org.stope;

/** Checks the arguments of public functions, so that a wrong one is a StopeException that names the parameter. */
final class Arguments {
  private Arguments() {}

  /** Returns the value; refuses null. */
  static <T> T required(T value, String parameter) {
    if (value == null) {
      throw wrong(parameter, "the argument '" + parameter + "' is null");
    }
    return value;
  }

  /** Refuses null, and null in one of the places. */
  static void requiredAll(String parameter, Object[] values) {
    required(values, parameter);
    for (Object value : values) {
      requiredItem(value, parameter);
    }
  }

  /** Refuses null and items that are null. */
  static void requiredAll(String parameter, Iterable<?> values) {
    for (Object value : required(values, parameter)) {
      requiredItem(value, parameter);
    }
  }

  private static void requiredItem(Object item, String parameter) {
    if (item == null) {
      throw wrong(parameter, "an item of the argument '" + parameter + "' is null");
    }
  }

  /** Makes the exception for a parameter that is wrong. */
  static StopeException wrong(String parameter, String message) {
    return new StopeException(StopeException.Code.INVALID_ARGUMENT, message, parameter);
  }
}
