// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import weka.core.Option;

/** An option of a scheme: its word in command lines, its default, what it is for, and which values it takes. */
public class SchemeOption<T extends Serializable> {
  /** Finds the option's value in WEKA's command line and blanks its words. */
  interface Taker<T> {
    T take(String[] words) throws Exception;
  }

  /** Refuses values that have no meaning. */
  interface Check<T> {
    void check(T value);
  }

  final String flag;
  final T usual;
  private final Class<T> type;
  private final String argument; // Empty if the word alone says all.
  private final String purpose;
  private final Taker<T> taker;
  private final Check<T> check;

  SchemeOption(String flag, String argument, Class<T> type, T usual, String purpose, Taker<T> taker, Check<T> check) {
    this.flag = flag;
    this.argument = argument;
    this.type = type;
    this.usual = usual;
    this.purpose = purpose;
    this.taker = taker;
    this.check = check;
  }

  /** Says what the option is for, as WEKA's editors show it. */
  public String tip() {
    return purpose + ".";
  }

  T take(String[] words) throws Exception {
    return taker.take(words);
  }

  T checked(Object value) {
    T own = type.cast(value);
    check.check(own);
    return own;
  }

  List<String> written(T value) {
    if (value.equals(usual)) {
      return Collections.emptyList();
    }
    return argument.isEmpty() ? Collections.singletonList("-" + flag) : Arrays.asList("-" + flag, value.toString());
  }

  Option listed() {
    if (argument.isEmpty()) {
      return new Option("\t" + purpose + ".", flag, 0, "-" + flag);
    }
    String defaults = usual.equals("") ? "" : " (default: " + usual + ")";
    return new Option("\t" + purpose + defaults + ".", flag, 1, "-" + flag + " " + argument);
  }
}
