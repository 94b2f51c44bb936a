package org.stope;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the JSON that the engine writes: objects become maps in their order, lists become lists, numbers doubles. It
 * keeps no dependency out of the host's class path.
 */
final class Json {
  private static final int MAX_DEPTH = 64;
  private final String text;
  private int at;
  private int depth;

  private Json(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.space();
    if (json.at != text.length()) {
      throw json.error();
    }
    return value;
  }

  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> objects(String text) {
    return (List<Map<String, Object>>) parse(text);
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(String text) {
    return (Map<String, Object>) parse(text);
  }

  private StopeException error() {
    return new StopeException(
        StopeException.Code.INTERNAL, "the engine's JSON cannot be read at character " + at + " of " + text.length());
  }

  private void space() {
    while (at < text.length() && text.charAt(at) <= ' ') {
      ++at;
    }
  }

  private char peek() {
    space();
    if (at == text.length()) {
      throw error();
    }
    return text.charAt(at);
  }

  private boolean take(char c) {
    if (peek() != c) {
      return false;
    }
    ++at;
    return true;
  }

  private void need(char c) {
    if (!take(c)) {
      throw error();
    }
  }

  private Object value() {
    if (++depth > MAX_DEPTH) {
      throw error();
    }
    try {
      switch (peek()) {
        case '{':
          return map();
        case '[':
          return list();
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
    } finally {
      --depth;
    }
  }

  private Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<>();
    need('{');
    if (take('}')) {
      return map;
    }
    do {
      peek();
      String name = string();
      need(':');
      map.put(name, value());
    } while (take(','));
    need('}');
    return map;
  }

  private List<Object> list() {
    List<Object> list = new ArrayList<>();
    need('[');
    if (take(']')) {
      return list;
    }
    do {
      list.add(value());
    } while (take(','));
    need(']');
    return list;
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) {
      throw error();
    }
    at += word.length();
    return value;
  }

  private Double number() {
    int begin = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      ++at;
    }
    try {
      return Double.valueOf(text.substring(begin, at));
    } catch (NumberFormatException e) {
      throw error();
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
    throw error();
  }

  private char escape() {
    if (at == text.length()) {
      throw error();
    }
    char c = text.charAt(at++);
    int plain = "bfnrt".indexOf(c);
    if (plain >= 0) {
      return "\b\f\n\r\t".charAt(plain);
    }
    if (c != 'u') {
      return c;
    }
    try {
      at += 4;
      return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      at = Math.min(at, text.length());
      throw error();
    }
  }
}
