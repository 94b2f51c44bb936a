// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The address of a server: HOST:PORT, which is reached through TLS, or http://HOST:PORT for a server on this machine.
 * Tokens and data never leave the machine unencrypted, so no other machine can be named with http.
 */
final class ServerAddress {
  private static final int MAX_PORT = 65535;
  private static final String HTTP = "http://";
  private static final String HTTPS = "https://";
  private static final String LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
  private static final Pattern NAME = Pattern.compile(LABEL + "(?:\\." + LABEL + ")*");
  private static final Pattern NUMBERS = Pattern.compile("[0-9.]+");
  private static final Pattern IPV4 = Pattern.compile(
      "(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\\.(?!$)|$)){4}");
  private static final Pattern PORT = Pattern.compile("[1-9][0-9]{0,4}");

  private final boolean tls;
  private final String host;
  private final int port;

  private ServerAddress(boolean tls, String host, int port) {
    this.tls = tls;
    this.host = host;
    this.port = port;
  }

  static ServerAddress of(String text) throws EngineException {
    boolean plain = text.startsWith(HTTP);
    String place = plain ? text.substring(HTTP.length())
        : text.startsWith(HTTPS) ? text.substring(HTTPS.length()) : text;
    int colon = place.lastIndexOf(':');
    if (!isPlace(place, colon)) {
      throw new EngineException(EngineException.Kind.UNSUITABLE, "'" + text
          + "' is not an address; a server is named HOST:PORT, as in 'gpu-box:7400'.", null);
    }
    String host = place.substring(0, colon).toLowerCase(Locale.ROOT);
    if (plain && !isLoopback(host)) {
      throw new EngineException(EngineException.Kind.UNSUITABLE, "'" + text + "' would send data and token in clear. "
          + "Only a server on this machine can be named with http://, as 'http://127.0.0.1:7400'; another one is named "
          + "HOST:PORT.", null);
    }
    return new ServerAddress(!plain, host, Integer.parseInt(place.substring(colon + 1)));
  }

  boolean tls() {
    return tls;
  }

  /** The host as it stands in the address: a number of IPv6 in brackets. */
  String host() {
    return host;
  }

  /** The host without brackets. */
  String hostName() {
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  int port() {
    return port;
  }

  /** What stands in the header Host. */
  String place() {
    return host + ":" + port;
  }

  /** Equal for equal addresses. */
  @Override
  public String toString() {
    return (tls ? "" : HTTP) + place();
  }

  private static boolean isLoopback(String host) {
    return host.equals("localhost") || host.equals("[::1]")
        || host.startsWith("127.") && IPV4.matcher(host).matches();
  }

  private static boolean isPlace(String text, int colon) {
    if (colon < 1) {
      return false;
    }
    String port = text.substring(colon + 1);
    return PORT.matcher(port).matches() && Integer.parseInt(port) <= MAX_PORT && isHost(text.substring(0, colon));
  }

  private static boolean isHost(String host) {
    if (host.startsWith("[") && host.endsWith("]")) {
      return isIpv6(host.substring(1, host.length() - 1));
    }
    return NUMBERS.matcher(host).matches() ? IPV4.matcher(host).matches()
        : host.length() <= 253 && NAME.matcher(host).matches();
  }

  /** Eight groups of four hexadecimal digits; "::" stands for one group of zeros or more. */
  private static boolean isIpv6(String host) {
    int gap = host.indexOf("::");
    if (gap < 0) {
      return groups(host) == 8;
    }
    int before = groups(host.substring(0, gap));
    int after = groups(host.substring(gap + 2));
    return before >= 0 && after >= 0 && before + after < 8;
  }

  /** The number of groups; -1 if one is none. */
  private static int groups(String text) {
    if (text.isEmpty()) {
      return 0;
    }
    String[] groups = text.split(":", -1);
    for (String group : groups) {
      if (!group.matches("[0-9A-Fa-f]{1,4}")) {
        return -1;
      }
    }
    return groups.length;
  }
}
