// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.text.MessageFormat;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.stope.rapidminer.engine.EngineException;

/** Every error has a name, a sentence and advice; the sentence survives MessageFormat. */
final class UserErrorTextsTest {
  private static final Path SOURCES = Paths.get("src/main/java/org/stope/rapidminer");

  private static Properties texts() throws IOException {
    Properties texts = new Properties();
    try (InputStream in = UserErrorTextsTest.class.getResourceAsStream("i18n/UserErrors.properties")) {
      texts.load(in);
    }
    return texts;
  }

  private static Set<String> thrown() throws IOException {
    Set<String> ids = new TreeSet<String>();
    Pattern call = Pattern.compile("StopeError\\.user\\(\\s*[^,]*,\\s*(?:[^\"]*\\? )?\"([a-z0-9_]+)\"(?: : \"([a-z0-9_]+)\")?");
    try (Stream<Path> files = Files.list(SOURCES)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).collect(Collectors.toList())) {
        Matcher found = call.matcher(new String(Files.readAllBytes(file), "UTF-8"));
        while (found.find()) {
          ids.add(found.group(1));
          if (found.group(2) != null) {
            ids.add(found.group(2));
          }
        }
      }
    }
    for (EngineException.Kind kind : EngineException.Kind.values()) {
      if (kind != EngineException.Kind.CANCELLED) {
        ids.add(StopeError.idOf(kind));
      }
    }
    return ids;
  }

  @Test
  void everyErrorThatIsThrownHasTexts() throws IOException {
    Properties texts = texts();
    Set<String> ids = thrown();
    assertTrue(ids.contains("no_label") && ids.contains("nominal_attribute") && ids.contains("k_below_1"), ids.toString());
    for (String id : ids) {
      for (String part : new String[] {"name", "short", "long"}) {
        assertNotNull(texts.getProperty("error.stope." + id + "." + part), id + "." + part);
      }
    }
    assertEquals(3 * ids.size(), texts.size(), "texts of errors that nobody throws");
  }

  @Test
  void argumentsStandInTheSentence() throws IOException {
    Properties texts = texts();
    String nominal = MessageFormat.format(texts.getProperty("error.stope.nominal_attribute.short"), "colour");
    assertEquals("The attribute 'colour' is nominal, and the chosen measure can only compare numbers.", nominal);
    for (String name : texts.stringPropertyNames()) {
      String text = MessageFormat.format(texts.getProperty(name), "ONE", "TWO");
      assertFalse(text.contains("{"), name + ": an apostrophe is not doubled: " + text);
    }
  }

  @Test
  void memoryAdviceNamesWhatIsNeeded() {
    assertEquals("It needs at least 2MB.",
        StopeError.advice(new EngineException(EngineException.Kind.MEMORY, "needs more", null, 1000001)));
    assertEquals("", StopeError.advice(new EngineException(EngineException.Kind.MEMORY, "needs more", null, -1)));
    assertEquals("", StopeError.advice(new EngineException(EngineException.Kind.INTERNAL, "broken", null, 5)));
  }
}
