// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UnsupportedEncodingException;
import java.net.URLEncoder;
import java.util.Map;

/** A request that can be sent again: its body is made anew each time. */
class HttpRequest {
  private final String method;
  private final StringBuilder path;
  private boolean job;
  private char separator = '?';

  HttpRequest(String method, String path) {
    this.method = method;
    this.path = new StringBuilder(path);
  }

  static HttpRequest get(String path) {
    return new HttpRequest("GET", path);
  }

  /** It may take long, shows progress and can be stopped. */
  HttpRequest job() {
    job = true;
    return this;
  }

  HttpRequest with(String name, String value) {
    path.append(separator).append(escaped(name)).append('=').append(escaped(value));
    separator = '&';
    return this;
  }

  HttpRequest with(Map<String, String> options) {
    for (Map.Entry<String, String> option : options.entrySet()) {
      with(option.getKey(), option.getValue());
    }
    return this;
  }

  static String escaped(String text) {
    try {
      return URLEncoder.encode(text, "UTF-8").replace("+", "%20").replace("%7E", "~");
    } catch (UnsupportedEncodingException everyJavaHasIt) {
      throw new IllegalStateException(everyJavaHasIt);
    }
  }

  String method() {
    return method;
  }

  String path() {
    return path.toString();
  }

  boolean isJob() {
    return job;
  }

  /** The bytes of the body. */
  long length() {
    return 0;
  }

  String mediaType() {
    return "";
  }

  void send(OutputStream to) throws IOException {
    to.flush();
  }
}
