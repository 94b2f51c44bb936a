package org.stope;

import java.lang.reflect.Array;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Options of a job, by name: "n_neighbors", "metric", "metric.p". An option that is not set has
 * the engine's default. {@link Stope#describeOptions} lists the options of a job. Names and values are checked by the job
 * that gets them. An object of this class has no native memory. It belongs to one thread at a time.
 */
public final class Options {
  private final Map<String, Object> values = new LinkedHashMap<>();

  /** Makes an empty set of options. */
  public Options() {}

  /**
   * Makes options of names and values that alternate.
   *
   * @param nameValuePairs name, value, name, value, ...
   * @return the options
   * @throws StopeException INVALID_ARGUMENT if a name is null, or if the last name has no value
   */
  public static Options of(String... nameValuePairs) {
    if (Arguments.required(nameValuePairs, "nameValuePairs").length % 2 != 0) {
      throw Arguments.wrong(
          "nameValuePairs", "the option '" + nameValuePairs[nameValuePairs.length - 1] + "' has no value");
    }
    Options options = new Options();
    for (int i = 0; i < nameValuePairs.length; i += 2) {
      options.set(nameValuePairs[i], nameValuePairs[i + 1]);
    }
    return options;
  }

  /**
   * Sets one option. A number or Boolean is spelled out, an enumeration becomes its name in lower case, and the items of
   * an {@link Iterable} or array become a list. A list of one item is that item. Setting a name again replaces its value.
   *
   * @param name the option
   * @param value its value; null takes the option back
   * @return this
   * @throws StopeException INVALID_ARGUMENT if the name, or an item of a list, is null
   */
  public Options set(String name, Object value) {
    if (value instanceof double[]) {
      return set(name, (double[]) value);
    }
    Arguments.required(name, "name");
    if (value == null) {
      values.remove(name);
    } else {
      values.put(name, spelled(value));
    }
    return this;
  }

  /**
   * Sets an option that is a list of numbers, such as "feature_weights": one number a feature. The job refuses several
   * numbers, or none, for an option that is a single value. One number may be both, a list or a single value.
   *
   * @param name the option
   * @param numbers its value, which is copied; null takes the option back
   * @return this
   * @throws StopeException INVALID_ARGUMENT if the name is null
   */
  public Options set(String name, double... numbers) {
    Arguments.required(name, "name");
    if (numbers == null) { // set(name, null) means this function, too.
      values.remove(name);
    } else if (numbers.length == 1) { // The engine reads the text of one number as either.
      values.put(name, Text.number(numbers[0]));
    } else {
      values.put(name, numbers.clone());
    }
    return this;
  }

  /**
   * Copies all options of another set into this one.
   *
   * @param other the other set; null has none
   * @return this
   */
  public Options setAll(Options other) {
    if (other != null) {
      values.putAll(other.values);
    }
    return this;
  }

  private static String spelled(Object value) {
    if (value instanceof Enum) {
      return ((Enum<?>) value).name().toLowerCase(Locale.ROOT);
    }
    if (value instanceof Iterable) {
      StringBuilder list = new StringBuilder();
      String between = "";
      for (Object item : (Iterable<?>) value) {
        list.append(between).append(quoted(item));
        between = ",";
      }
      return list.toString();
    }
    if (value.getClass().isArray()) {
      StringBuilder list = new StringBuilder();
      for (int i = 0; i < Array.getLength(value); ++i) {
        list.append(i == 0 ? "" : ",").append(quoted(Array.get(value, i)));
      }
      return list.toString();
    }
    return value instanceof Double ? Text.number((Double) value) : value.toString();
  }

  // Quotes keep a comma inside an item; a quote inside quotes is doubled.
  private static String quoted(Object value) {
    if (value == null) {
      throw Arguments.wrong("value", "an item of the argument 'value' is null");
    }
    String item = value instanceof Double ? Text.number((Double) value) : value.toString();
    boolean plain = item.indexOf(',') < 0 && item.indexOf('"') < 0;
    return plain ? item : '"' + item.replace("\"", "\"\"") + '"';
  }

  /** Makes the engine's copy, which the caller frees. */
  long toNative() {
    long options = Native.optionsNew();
    try {
      for (Map.Entry<String, Object> option : values.entrySet()) {
        byte[] name = Text.utf8(option.getKey(), "name");
        if (option.getValue() instanceof double[]) {
          Native.optionsSetDoubles(options, name, (double[]) option.getValue());
        } else {
          Native.optionsSet(options, name, Text.utf8((String) option.getValue(), option.getKey()));
        }
      }
      return options;
    } catch (Throwable e) {
      Native.free(Native.OPTIONS, options);
      throw e;
    }
  }

  @Override
  public String toString() {
    Map<String, Object> readable = new LinkedHashMap<>(values);
    readable.replaceAll((name, value) -> value instanceof double[] ? Arrays.toString((double[]) value) : value);
    return readable.toString();
  }
}
