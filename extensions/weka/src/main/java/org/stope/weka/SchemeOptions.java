// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import weka.core.Option;
import weka.core.Tag;
import weka.core.Utils;

/** The options of a scheme, each declared once, and those of the engine. It reads and writes them as WEKA does. */
public final class SchemeOptions {
  private final List<SchemeOption<?>> all = new ArrayList<>();

  /** Declares one of a few words. */
  public ChoiceOption choice(String flag, Tag[] tags, String purpose) {
    ChoiceOption option = new ChoiceOption(flag, tags, purpose);
    all.add(option);
    return option;
  }

  /** Declares a whole number that is not below {@code least}. */
  public SchemeOption<Integer> whole(String flag, int usual, int least, String purpose) {
    return declared(new SchemeOption<>(flag, "<number>", Integer.class, usual, purpose, words -> {
      String text = Utils.getOption(flag, words);
      try {
        return text.isEmpty() ? usual : Integer.parseInt(text);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("-" + flag + " is '" + text + "', and a whole number is needed", e);
      }
    }, number -> {
      if (number < least) {
        throw new IllegalArgumentException("-" + flag + " is " + number + ": at least " + least + " is needed");
      }
    }));
  }

  /** Declares a number. */
  public SchemeOption<Double> number(String flag, double usual, String purpose) {
    return declared(new SchemeOption<>(flag, "<number>", Double.class, usual, purpose, words -> {
      String text = Utils.getOption(flag, words);
      try {
        return text.isEmpty() ? usual : Double.parseDouble(text);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("-" + flag + " is '" + text + "', and a number is needed", e);
      }
    }, number -> {}));
  }

  /** Declares a switch, which is off without its word. */
  public SchemeOption<Boolean> flag(String flag, String purpose) {
    return declared(
        new SchemeOption<>(flag, "", Boolean.class, false, purpose, words -> Utils.getFlag(flag, words), on -> {}));
  }

  /** Declares a text. */
  public SchemeOption<String> text(String flag, String argument, String usual, String purpose) {
    return declared(new SchemeOption<>(flag, argument, String.class, usual, purpose, words -> {
      String text = Utils.getOption(flag, words);
      return text.isEmpty() ? usual : text;
    }, any -> {}));
  }

  private <T extends Serializable> SchemeOption<T> declared(SchemeOption<T> option) {
    all.add(option);
    return option;
  }

  private List<SchemeOption<?>> withEngine() {
    List<SchemeOption<?>> every = new ArrayList<>(all);
    every.addAll(EngineOptions.DECLARED.all);
    return every;
  }

  /** Lists the options, and behind them those of the class that the scheme extends. */
  public Enumeration<Option> listed(Enumeration<Option> inherited) {
    List<Option> options = new ArrayList<>();
    for (SchemeOption<?> option : withEngine()) {
      options.add(option.listed());
    }
    options.addAll(Collections.list(inherited));
    return Collections.enumeration(options);
  }

  /** Takes all options out of a command line. Those that are not there get their defaults. */
  public void take(String[] words, OptionValues values) throws Exception {
    for (SchemeOption<?> option : withEngine()) {
      values.take(option, words);
    }
  }

  /** Writes the options that are not defaults, and behind them those of the class that the scheme extends. */
  public String[] written(OptionValues values, String[] inherited) {
    List<String> words = new ArrayList<>();
    for (SchemeOption<?> option : withEngine()) {
      words.addAll(values.written(option));
    }
    Collections.addAll(words, inherited);
    return words.toArray(new String[0]);
  }
}
