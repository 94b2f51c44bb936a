// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Each operator has its class, three icons and a help text. */
final class DescriptorsTest {
  private static Document read(String resource) throws Exception {
    try (InputStream in = DescriptorsTest.class.getResourceAsStream(resource)) {
      return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(in);
    }
  }

  private static List<Element> operators(Document document) {
    List<Element> all = new ArrayList<Element>();
    NodeList found = document.getElementsByTagName("operator");
    for (int i = 0; i < found.getLength(); i++) {
      all.add((Element) found.item(i));
    }
    return all;
  }

  private static String text(Element operator, String tag) {
    return operator.getElementsByTagName(tag).item(0).getTextContent();
  }

  @Test
  void operatorsAreComplete() throws Exception {
    TreeSet<String> keys = new TreeSet<String>();
    for (Element operator : operators(read("operators.xml"))) {
      keys.add(text(operator, "key"));
      // Not initialised: that would run code of signatures.
      assertNotNull(Class.forName(text(operator, "class"), false, getClass().getClassLoader()));
      for (String size : new String[] {"16", "24", "48"}) {
        String icon = "/com/rapidminer/resources/icons/" + size + "/" + text(operator, "icon");
        assertNotNull(getClass().getResource(icon), icon);
      }
    }
    assertEquals(6, keys.size());
    TreeSet<String> documented = new TreeSet<String>();
    for (Element operator : operators(read("i18n/OperatorsDoc.xml"))) {
      documented.add(text(operator, "key"));
      for (String part : new String[] {"name", "shortName", "synopsis", "help"}) {
        assertFalse(text(operator, part).trim().isEmpty(), part);
      }
    }
    assertEquals(keys, documented);
  }
}
