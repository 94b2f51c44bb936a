// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON from a server, which may send anything: objects become maps, lists lists, numbers doubles. What is no JSON is an
 * {@link IllegalArgumentException}. The accessors give a default where a member is missing or has another type.
 */
final class JsonText {
  private static final int MAX_DEPTH = 32;
  private static final String ESCAPES = "\"\\/bfnrt";
  private static final String ESCAPED = "\"\\/\b\f\n\r\t";

  private final String text;
  private int at;
  private int depth;

  private JsonText(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    JsonText json = new JsonText(text);
    Object value = json.value();
    if (json.peek() != 0) {
      throw json.wrong();
    }
    return value;
  }

  /** An empty map where the value is no object. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    return value instanceof Map ? (Map<String, Object>) value : new LinkedHashMap<String, Object>();
  }

  /** An empty list where the value is none. */
  @SuppressWarnings("unchecked")
  static List<Object> list(Object value) {
    return value instanceof List ? (List<Object>) value : new ArrayList<Object>();
  }

  static String text(Map<String, Object> object, String member, String otherwise) {
    Object value = object.get(member);
    return value instanceof String ? (String) value : otherwise;
  }

  static double number(Map<String, Object> object, String member, double otherwise) {
    Object value = object.get(member);
    return value instanceof Double ? (Double) value : otherwise;
  }

  /** A text in quotes. */
  static void quote(StringBuilder to, String text) {
    to.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        to.append('\\').append(c);
      } else if (c < ' ') {
        to.append(String.format("\\u%04x", (int) c));
      } else {
        to.append(c);
      }
    }
    to.append('"');
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("no JSON at character " + at);
  }

  /** The next character that is no space; 0 at the end. */
  private char peek() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : 0;
  }

  private boolean take(char c) {
    boolean there = peek() == c;
    at += there ? 1 : 0;
    return there;
  }

  private void need(char c) {
    if (!take(c)) {
      throw wrong();
    }
  }

  private Object value() {
    switch (peek()) {
      case '{':
        return map();
      case '[':
        return items();
      case '"':
        return string();
      case 't':
        return word("true", Boolean.TRUE);
      case 'f':
        return word("false", Boolean.FALSE);
      case 'n':
        return word("null", null);
      default:
        return number();
    }
  }

  private void enter(char c) {
    need(c);
    if (++depth > MAX_DEPTH) {
      throw wrong();
    }
  }

  private Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<String, Object>();
    enter('{');
    if (!take('}')) {
      do {
        peek();
        String name = string();
        need(':');
        map.put(name, value());
      } while (take(','));
      need('}');
    }
    depth--;
    return map;
  }

  private List<Object> items() {
    List<Object> list = new ArrayList<Object>();
    enter('[');
    if (!take(']')) {
      do {
        list.add(value());
      } while (take(','));
      need(']');
    }
    depth--;
    return list;
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) {
      throw wrong();
    }
    at += word.length();
    return value;
  }

  private Double number() {
    int begin = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    try {
      return Double.valueOf(text.substring(begin, at));
    } catch (NumberFormatException none) {
      throw wrong();
    }
  }

  private String string() {
    need('"');
    StringBuilder to = new StringBuilder();
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return to.toString();
      }
      to.append(c == '\\' ? escape() : c);
    }
    throw wrong();
  }

  private char escape() {
    char c = at < text.length() ? text.charAt(at++) : 0;
    int plain = ESCAPES.indexOf(c);
    if (plain >= 0) {
      return ESCAPED.charAt(plain);
    }
    if (c != 'u' || at + 4 > text.length()) {
      throw wrong();
    }
    int code = 0;
    for (int i = 0; i < 4; i++) {
      int digit = Character.digit(text.charAt(at++), 16);
      if (digit < 0) {
        throw wrong();
      }
      code = 16 * code + digit;
    }
    return (char) code;
  }
}
