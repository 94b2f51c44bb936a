// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON: objects are maps, lists are lists, numbers doubles. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(String text) {
    return (Map<String, Object>) new Json(text).value();
  }

  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> objects(Object list) {
    return (List<Map<String, Object>>) list;
  }

  private char skip() {
    while (Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return text.charAt(at);
  }

  private Object value() {
    switch (skip()) {
      case '{':
        return members();
      case '[':
        return items();
      case '"':
        return string();
      default:
        return word();
    }
  }

  private Map<String, Object> members() {
    Map<String, Object> map = new LinkedHashMap<>();
    at++;
    while (skip() != '}') {
      String name = string();
      skip();
      at++;  // the colon
      map.put(name, value());
      if (skip() == ',') {
        at++;
      }
    }
    at++;
    return map;
  }

  private List<Object> items() {
    List<Object> list = new ArrayList<>();
    at++;
    while (skip() != ']') {
      list.add(value());
      if (skip() == ',') {
        at++;
      }
    }
    at++;
    return list;
  }

  private String string() {
    skip();
    StringBuilder made = new StringBuilder();
    for (at++; text.charAt(at) != '"'; at++) {
      char c = text.charAt(at);
      if (c == '\\') {
        c = text.charAt(++at);
        if (c == 'u') {
          c = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
          at += 4;
        } else if (c == 'n') {
          c = '\n';
        } else if (c == 't') {
          c = '\t';
        }
      }
      made.append(c);
    }
    at++;
    return made.toString();
  }

  private Object word() {
    int begin = at;
    while (at < text.length() && "+-.0123456789Eaeflnrstu".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String word = text.substring(begin, at);
    if (word.equals("true") || word.equals("false")) {
      return Boolean.valueOf(word);
    }
    return word.equals("null") ? null : (Object) Double.valueOf(word);
  }
}
