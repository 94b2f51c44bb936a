// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.util.regex.Pattern;

/**
 * An engine on another machine, for systems without the native library. This version has no transport: every session
 * is refused in plain words, after the address has been checked.
 */
final class RemoteEngine implements Engine {
  private static final int MAX_PORT = 65535;
  private static final String LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
  private static final Pattern NAME = Pattern.compile(LABEL + "(?:\\." + LABEL + ")*");
  private static final Pattern NUMBERS = Pattern.compile("[0-9.]+");
  private static final Pattern IPV4 = Pattern.compile(
      "(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\\.(?!$)|$)){4}");
  private static final Pattern PORT = Pattern.compile("[1-9][0-9]{0,4}");

  private final String server;

  RemoteEngine(String server) {
    this.server = server;
  }

  @Override
  public EngineSession open(Settings settings) throws EngineException {
    if (!isAddress(server)) {
      throw new EngineException(EngineException.Kind.UNSUITABLE,
          "'" + server + "' is not an address; a server is named HOST:PORT, as in 'gpu-box:7400'.", null);
    }
    throw new EngineException(EngineException.Kind.NO_TRANSPORT, server, null);
  }

  static boolean isAddress(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 1) {
      return false;
    }
    String host = text.substring(0, colon);
    String port = text.substring(colon + 1);
    return PORT.matcher(port).matches() && Integer.parseInt(port) <= MAX_PORT && isHost(host);
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
