// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What this user knows of a server: a token, and the certificate that it must show. A process file holds neither, since
 * people pass processes on. A token goes only to the server that it is written for: a process may name any other.
 */
final class ServerAccess {
  /** A line: SERVER TOKEN [sha256:FINGERPRINT]; a token of "-" is none. */
  static final String FILE = ".stope/tokens";
  static final String SERVER_VARIABLE = "STOPE_SERVER";
  static final String TOKEN_VARIABLE = "STOPE_TOKEN";
  static final String FINGERPRINT_VARIABLE = "STOPE_FINGERPRINT";

  private static final int MOST_BYTES = 1 << 20;
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/=-]{1,1024}");
  private static final Pattern FINGERPRINT = Pattern.compile("[0-9a-f]{64}");
  private static final Set<PosixFilePermission> OTHERS = EnumSet.of(PosixFilePermission.GROUP_READ,
      PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);

  private final boolean known;
  private final String token;
  private final String fingerprint;

  private ServerAccess(boolean known, String token, String fingerprint) {
    this.known = known;
    this.token = token;
    this.fingerprint = fingerprint;
  }

  static ServerAccess to(ServerAddress server) throws EngineException {
    return to(server, System.getenv(), Paths.get(System.getProperty("user.home"), FILE));
  }

  /** The environment's variables count before the file's lines. */
  static ServerAccess to(ServerAddress server, Map<String, String> environment, Path file) throws EngineException {
    String named = environment.get(SERVER_VARIABLE);
    if (named != null && sameServer(named.trim(), server)) {
      return checked(environment.get(TOKEN_VARIABLE), environment.get(FINGERPRINT_VARIABLE), "the environment");
    }
    String text = read(file);
    int number = 0;
    for (String line : text.split("\r?\n")) {
      number++;
      String[] words = line.trim().split("\\s+");
      if (line.trim().isEmpty() || words[0].startsWith("#") || !sameServer(words[0], server)) {
        continue;
      }
      String where = file + ", line " + number;
      if (words.length < 2 || words.length > 3) {
        throw refused(where + ": a line is a server, a token and, where needed, sha256: and a fingerprint.");
      }
      return checked(words[1], words.length == 3 ? words[2] : null, where);
    }
    return new ServerAccess(false, "", "");
  }

  /** Whether the user has written anything about the server. */
  boolean known() {
    return known;
  }

  /** Empty: none. */
  String token() {
    return token;
  }

  /** The SHA-256 of the server's certificate in lower-case digits; empty: Java's own trust decides. */
  String fingerprint() {
    return fingerprint;
  }

  private static boolean sameServer(String text, ServerAddress server) {
    try {
      return ServerAddress.of(text).toString().equals(server.toString());
    } catch (EngineException otherLine) {
      return false;
    }
  }

  private static ServerAccess checked(String token, String fingerprint, String where) throws EngineException {
    String secret = token == null || token.trim().equals("-") ? "" : token.trim();
    if (!secret.isEmpty() && !TOKEN.matcher(secret).matches()) {
      throw refused(where + ": the token has characters that no token has.");
    }
    String digits = fingerprint == null ? "" : fingerprint.trim().toLowerCase(Locale.ROOT).replaceFirst("^sha256:", "")
        .replace(":", "");
    if (!digits.isEmpty() && !FINGERPRINT.matcher(digits).matches()) {
      throw refused(where + ": the fingerprint is not the 64 hexadecimal digits of a SHA-256.");
    }
    return new ServerAccess(true, secret, digits);
  }

  private static String read(Path file) throws EngineException {
    try {
      refuseOpenFile(file);
      if (Files.size(file) > MOST_BYTES) {
        throw refused(file + " is larger than a file of tokens can be.");
      }
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (NoSuchFileException none) {
      return "";
    } catch (IOException error) {
      throw refused(file + " cannot be read: " + error.getMessage());
    }
  }

  // Windows has other rights, and RapidMiner Studio's sandbox does not let extensions ask for them.
  private static void refuseOpenFile(Path file) throws IOException, EngineException {
    Set<PosixFilePermission> rights;
    try {
      rights = Files.getPosixFilePermissions(file);
    } catch (UnsupportedOperationException | SecurityException unknown) {
      return;
    }
    for (PosixFilePermission right : OTHERS) {
      if (rights.contains(right)) {
        throw refused("Other users can read or change " + file + ", which holds tokens. Run: chmod 600 " + file);
      }
    }
  }

  private static EngineException refused(String message) {
    return new EngineException(EngineException.Kind.NO_ACCESS, message, null);
  }
}
