// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.StringJoiner;
import weka.core.SelectedTag;
import weka.core.Tag;
import weka.core.Utils;

/** An option that is one of a few words. Its value is the word; the first one is the default. */
public final class ChoiceOption extends SchemeOption<String> {
  private final Tag[] tags;

  ChoiceOption(String flag, Tag[] tags, String purpose) {
    super(flag, "<name>", String.class, tags[0].getIDStr(), purpose + ": " + names(tags),
        words -> taken(flag, tags, words), word -> tagOf(flag, tags, word));
    this.tags = tags;
  }

  private static String taken(String flag, Tag[] tags, String[] words) throws Exception {
    String word = Utils.getOption(flag, words);
    return word.isEmpty() ? tags[0].getIDStr() : word;
  }

  private static Tag tagOf(String flag, Tag[] tags, String word) {
    for (Tag tag : tags) {
      if (tag.getIDStr().equals(word)) {
        return tag;
      }
    }
    throw new IllegalArgumentException("-" + flag + " is '" + word + "': it is one of " + names(tags));
  }

  private static String names(Tag[] tags) {
    StringJoiner names = new StringJoiner(", ");
    for (Tag tag : tags) {
      names.add(tag.getIDStr());
    }
    return names.toString();
  }

  /** The choice of this word, for WEKA's editors. */
  SelectedTag tag(String word) {
    return new SelectedTag(tagOf(flag, tags, word).getID(), tags);
  }
}
