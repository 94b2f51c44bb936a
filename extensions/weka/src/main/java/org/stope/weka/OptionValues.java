// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import weka.core.SelectedTag;

/**
 * The values of a scheme's options. It holds those that are not defaults, so that a saved classifier lacks no option of a
 * later version.
 */
public final class OptionValues implements Serializable {
  private static final long serialVersionUID = 1L;

  private final HashMap<String, Serializable> changed = new HashMap<>();

  /** Gives a value. */
  public <T extends Serializable> T get(SchemeOption<T> option) {
    Serializable value = changed.get(option.flag);
    return value == null ? option.usual : option.checked(value);
  }

  /** Gives a choice as WEKA's editors take it. */
  public SelectedTag tag(ChoiceOption option) {
    return option.tag(get(option));
  }

  /** Sets a value, or refuses it. Null and an empty text are the default. */
  public <T extends Serializable> void set(SchemeOption<T> option, T value) {
    if (value == null || value.equals("") || option.checked(value).equals(option.usual)) {
      changed.remove(option.flag);
    } else {
      changed.put(option.flag, value);
    }
  }

  /** Sets a choice. */
  public void set(ChoiceOption option, SelectedTag chosen) {
    set(option, chosen.getSelectedTag().getIDStr());
  }

  <T extends Serializable> void take(SchemeOption<T> option, String[] words) throws Exception {
    set(option, option.take(words));
  }

  <T extends Serializable> List<String> written(SchemeOption<T> option) {
    return option.written(get(option));
  }
}
