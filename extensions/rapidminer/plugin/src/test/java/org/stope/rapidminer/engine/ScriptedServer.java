// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A server on this machine that does what a test says, right or wrong, byte for byte. */
final class ScriptedServer implements Closeable {
  static final String HELLO = "{\"version\":\"0.1.0\",\"kinds\":{},\"caller\":{\"right\":\"compute\"},"
      + "\"devices\":[\"cpu\"],\"formats\":{\"read\":[\"application/vnd.stope.rows\"]}}";
  /** An answer that only closes the connection. */
  static final byte[] NOTHING = {};

  /** Called on the connection's own thread; the answer is sent as it is. */
  interface Script {
    byte[] answer(Seen request) throws Exception;
  }

  /** A request as it came. */
  static final class Seen {
    String line;
    final Map<String, String> headers = new ConcurrentHashMap<String, String>();
    byte[] body = {};
    OutputStream out;
  }

  final List<String> lines = Collections.synchronizedList(new ArrayList<String>());
  final List<Seen> requests = Collections.synchronizedList(new ArrayList<Seen>());
  final AtomicInteger connections = new AtomicInteger();
  private final ServerSocket socket;
  private final Script script;
  private final List<Socket> open = Collections.synchronizedList(new ArrayList<Socket>());
  volatile boolean readsBodies = true;

  ScriptedServer(Script script) throws IOException {
    this(new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1")), script);
  }

  ScriptedServer(ServerSocket socket, Script script) {
    this.socket = socket;
    this.script = script;
    daemon(this::accept);
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    thread.start();
  }

  int port() {
    return socket.getLocalPort();
  }

  String address() {
    return "http://127.0.0.1:" + port();
  }

  static byte[] answer(String status, String type, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return join(("HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + bytes.length
        + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII), bytes);
  }

  static byte[] json(String body) {
    return answer("200 OK", "application/json", body);
  }

  static byte[] problem(int status, String code, String detail) {
    return answer(status + " X", "application/problem+json",
        "{\"status\":" + status + ",\"code\":\"" + code + "\",\"detail\":\"" + detail + "\"}");
  }

  static byte[] join(byte[] first, byte[] second) {
    byte[] both = java.util.Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private void accept() {
    try {
      while (true) {
        Socket connection = socket.accept();
        connections.incrementAndGet();
        open.add(connection);
        daemon(() -> serve(connection));
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private void serve(Socket connection) {
    try (Socket mine = connection) {
      InputStream in = mine.getInputStream();
      while (true) {
        Seen seen = read(in, mine.getOutputStream());
        if (seen == null) {
          return;
        }
        byte[] answer = seen.line.startsWith("GET /v1 ") && !handlesHello ? json(HELLO) : script.answer(seen);
        if (answer.length == 0) {
          return;
        }
        mine.getOutputStream().write(answer);
        mine.getOutputStream().flush();
        if (closesAfterAnswer) {
          return;
        }
      }
    } catch (Exception gone) {
      // Clients that go away are part of some tests.
    }
  }

  volatile boolean handlesHello;
  volatile boolean closesAfterAnswer;

  private Seen read(InputStream in, OutputStream out) throws IOException {
    Seen seen = new Seen();
    seen.out = out;
    seen.line = HttpBodies.line(in);
    if (seen.line == null) {
      return null;
    }
    for (String line = HttpBodies.line(in); !"".equals(line); line = HttpBodies.line(in)) {
      int colon = line.indexOf(':');
      seen.headers.put(line.substring(0, colon).toLowerCase(), line.substring(colon + 1).trim());
    }
    lines.add(seen.line.replace(" HTTP/1.1", ""));
    requests.add(seen);
    if (!readsBodies) {
      return seen;
    }
    if (seen.headers.containsKey("expect")) {
      out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }
    String length = seen.headers.getOrDefault("content-length", "0");
    InputStream body = new HttpBodies.Input(in,
        seen.headers.containsKey("transfer-encoding") ? -1 : Long.parseLong(length));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int b = body.read(); b >= 0; b = body.read()) {
      bytes.write(b);
    }
    seen.body = bytes.toByteArray();
    return seen;
  }

  @Override
  public void close() throws IOException {
    socket.close();
    synchronized (open) {
      for (Socket connection : open) {
        connection.close();
      }
    }
  }
}
