// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.text.MessageFormat;
import java.util.Properties;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A k above the number of examples has a text for each kind of vote. */
final class LargeKTest {
  @Test
  void everyKindOfVoteHasAText() throws Exception {
    Properties texts = new Properties();
    try (InputStream in = LargeKTest.class.getResourceAsStream("i18n/Errors.properties")) {
      texts.load(in);
    }
    TreeSet<String> keys = new TreeSet<String>();
    for (boolean classes : new boolean[] {false, true}) {
      for (boolean weighted : new boolean[] {false, true}) {
        String key = "process.error." + LargeK.key(classes, weighted);
        keys.add(key);
        String text = MessageFormat.format(texts.getProperty(key), "50", "8");
        assertTrue(text.startsWith("The parameter 'k' is 50, but there are only 8 examples."), text);
      }
    }
    assertEquals(keys, new TreeSet<Object>(texts.keySet()));
  }
}
