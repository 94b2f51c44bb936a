// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLException;

/** What a user is told where a server refuses, fails or is not there. */
final class ServerWords {
  private static final int MOST_TEXT = 1000;
  /** Codes of docs/SERVER.md that mean more than their status. */
  private static final Map<String, EngineException.Kind> CODES = new HashMap<String, EngineException.Kind>();

  static {
    CODES.put("out_of_memory", EngineException.Kind.MEMORY);
    CODES.put("device_unavailable", EngineException.Kind.NO_GPU);
    CODES.put("device_lost", EngineException.Kind.GPU_LOST);
    CODES.put("cancelled", EngineException.Kind.CANCELLED);
    CODES.put("internal", EngineException.Kind.INTERNAL);
  }

  private ServerWords() {}

  /** A refusal in the server's own sentence, if it has one. */
  static EngineException of(ServerAddress server, HttpAnswer answer) {
    if (answer.status() >= 300 && answer.status() < 400) {
      return lost("'" + server + "' answers with the address of another server, and such a redirection is not "
          + "followed. Name the server itself.", null);
    }
    Map<String, Object> problem;
    try {
      problem = answer.header("content-type").startsWith("application/problem+json") ? answer.json() : null;
    } catch (IOException error) {
      problem = null;
    }
    if (problem == null) {
      return foreign(server, "it answers with the HTTP status " + answer.status() + " and no explanation");
    }
    return of(server, answer.status(), problem);
  }

  /** A problem of docs/SERVER.md. */
  static EngineException of(ServerAddress server, int status, Map<String, Object> problem) {
    String detail = plain(JsonText.text(problem, "detail", JsonText.text(problem, "title", "")));
    String sentence = detail.isEmpty() ? "The server '" + server + "' refuses, with status " + status + "." : detail;
    long bytes = (long) JsonText.number(problem, "bytes", 0);
    String code = JsonText.text(problem, "code", "").replace('-', '_');
    if (code.equals("no_model")) {
      return lost("The server '" + server + "' no longer has the model, which nobody has used for long. Learn it "
          + "again.", null);
    }
    EngineException.Kind kind = CODES.containsKey(code) ? CODES.get(code) : kindOf(status);
    if (kind == EngineException.Kind.NO_ACCESS) {
      sentence = "The server '" + server + "' says: " + sentence;
    }
    return new EngineException(kind, sentence, null, bytes);
  }

  private static EngineException.Kind kindOf(int status) {
    switch (status) {
      case 401:
      case 403:
        return EngineException.Kind.NO_ACCESS;
      case 408:
      case 429:
      case 502:
      case 503:
      case 504:
        return EngineException.Kind.NO_SERVER;
      case 507:
        return EngineException.Kind.MEMORY;
      default:
        return status >= 500 ? EngineException.Kind.INTERNAL : EngineException.Kind.UNSUITABLE;
    }
  }

  /** Why a server could not be reached, or not be understood. */
  static EngineException of(ServerAddress server, IOException error) {
    String name = "'" + server + "'";
    if (error instanceof HttpGarbage) {
      return foreign(server, error.getMessage());
    }
    if (error instanceof UnknownHostException) {
      return lost("No machine with the name '" + server.hostName() + "' is known. Is it spelt right?", error);
    }
    if (error instanceof NoRouteToHostException) {
      return lost("The network has no way to " + name + ".", error);
    }
    if (error instanceof ConnectException) {
      return lost("Nothing answers at " + name + ". Does stope-serve run there, and does it listen at this port?",
          error);
    }
    if (error instanceof SocketTimeoutException) {
      return lost(name + " does not answer in time. The machine, the network or a firewall may be the reason.", error);
    }
    if (error instanceof Tls.Untrusted) {
      return untrusted(server, (Tls.Untrusted) error);
    }
    if (error instanceof SSLException) {
      return lost(name + " could not agree on TLS with this Java: " + plain(error.getMessage()) + ". A stope-serve "
          + "without TLS can be reached on its own machine only, as 'http://127.0.0.1:PORT'.", error);
    }
    return lost("The connection to " + name + " broke: " + plain(error.getMessage()) + ".", error);
  }

  private static EngineException untrusted(ServerAddress server, Tls.Untrusted error) {
    StringBuilder fingerprint = new StringBuilder();
    for (int i = 0; i + 2 <= error.shown().length(); i += 2) {
      fingerprint.append(i > 0 ? ":" : "").append(error.shown(), i, i + 2);
    }
    return new EngineException(EngineException.Kind.NO_ACCESS, "The certificate of '" + server + "' is not trusted, or "
        + "is not the expected one. The SHA-256 fingerprint of the one that it shows is sha256:" + fingerprint + ".",
        error);
  }

  static EngineException foreign(ServerAddress server, String what) {
    return lost("What answers at '" + server + "' does not behave like a stope server: " + plain(what) + ".", null);
  }

  static EngineException lost(String sentence, Throwable cause) {
    return new EngineException(EngineException.Kind.NO_SERVER, sentence, cause);
  }

  static EngineException cancelled() {
    return new EngineException(EngineException.Kind.CANCELLED, "The job was cancelled.", null);
  }

  /** A server's text in a window of RapidMiner: one line, not endless, and no tags, which such a window would obey. */
  private static String plain(String text) {
    String line = String.valueOf(text).replaceAll("[\\p{Cntrl}]+", " ").replaceAll("<(?=[A-Za-z/!])", "< ")
        .trim();
    return line.length() > MOST_TEXT ? line.substring(0, MOST_TEXT) + "..." : line;
  }
}
