// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.Collections;
import java.util.List;
import weka.core.Tag;
import weka.core.Utils;

/** Takes options out of WEKA's command lines and writes them, with words for what is wrong. */
public final class OptionWords {
  private OptionWords() {}

  /** Takes a choice; without the option, the first of the tags. */
  public static int takeTag(String name, Tag[] tags, String[] options) throws Exception {
    String word = Utils.getOption(name, options);
    if (word.isEmpty()) {
      return tags[0].getID();
    }
    StringBuilder known = new StringBuilder();
    for (Tag tag : tags) {
      if (tag.getIDStr().equals(word)) {
        return tag.getID();
      }
      known.append(known.length() == 0 ? "" : ", ").append(tag.getIDStr());
    }
    throw new IllegalArgumentException("-" + name + " is '" + word + "': it is one of " + known);
  }

  /** Takes a number. */
  public static double takeNumber(String name, double usual, String[] options) throws Exception {
    String text = Utils.getOption(name, options);
    try {
      return text.isEmpty() ? usual : Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("-" + name + " is '" + text + "', and a number is needed", e);
    }
  }

  /** Takes a whole number. */
  public static int takeWhole(String name, int usual, String[] options) throws Exception {
    String text = Utils.getOption(name, options);
    try {
      return text.isEmpty() ? usual : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("-" + name + " is '" + text + "', and a whole number is needed", e);
    }
  }

  /** Writes an option if its value is not the usual one. */
  public static void write(List<String> to, String name, Object value, Object usual) {
    if (!value.equals(usual)) {
      Collections.addAll(to, "-" + name, value.toString());
    }
  }
}
