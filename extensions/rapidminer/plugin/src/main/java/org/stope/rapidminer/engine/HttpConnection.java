// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A connection to a server, for one request after the other. It is a socket and not Java's HttpURLConnection for four
 * reasons: another thread can end it at once; a refusal is read while a body is still being sent; nothing is sent twice
 * unasked; and RapidMiner Studio's sandbox allows sockets, but no certificate of one's own for HttpURLConnection.
 */
final class HttpConnection implements Closeable {
  static final int CONNECT_MS = 10000;
  static final int ANSWER_MS = 60000;
  private static final int TLS_MESSAGE_MS = 200;
  // Servers close idle connections after some seconds. A request must not meet that moment.
  private static final long REUSE_NS = TimeUnit.SECONDS.toNanos(2);

  private final ServerAddress server;
  private final Socket plain = new Socket();
  private Socket socket = plain;
  private InputStream in;
  private OutputStream out;
  private long lastUse;
  private volatile boolean closed;

  HttpConnection(ServerAddress server) {
    this.server = server;
  }

  /** Connects. Only afterwards can anything but {@link #close} be called. */
  void connect(String fingerprint, int timeoutMs) throws IOException {
    InetSocketAddress to = new InetSocketAddress(server.hostName(), server.port());
    if (to.isUnresolved()) {
      throw new UnknownHostException(server.hostName());
    }
    if (!server.tls() && !to.getAddress().isLoopbackAddress()) {
      throw new HttpGarbage("'" + server.hostName() + "' is another machine, which is not reached with http://");
    }
    plain.connect(to, timeoutMs);
    plain.setTcpNoDelay(true);
    plain.setKeepAlive(true);
    readTimeout(timeoutMs);
    if (server.tls()) {
      socket = Tls.over(plain, server, fingerprint);
    }
    in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
    lastUse = System.nanoTime();
  }

  /** 0: wait for ever. */
  void readTimeout(int ms) throws IOException {
    plain.setSoTimeout(ms);
  }

  /** Sends the head of a request; {@code length} -1 stands for a body in chunks. */
  void head(String method, String path, Map<String, String> headers, long length) throws IOException {
    StringBuilder head = new StringBuilder();
    head.append(method).append(' ').append(path).append(" HTTP/1.1\r\nHost: ").append(server.place()).append("\r\n");
    for (Map.Entry<String, String> header : headers.entrySet()) {
      head.append(header.getKey()).append(": ").append(header.getValue()).append("\r\n");
    }
    if (length < 0) {
      head.append("Transfer-Encoding: chunked\r\n");
    } else if (length > 0 || !method.equals("GET")) {
      head.append("Content-Length: ").append(length).append("\r\n");
    }
    out.write(head.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  /** For a body of the length that the head has said; flush it. */
  OutputStream body() {
    return out;
  }

  /** Whether bytes of an answer have come, though it is not yet time for one. */
  boolean hasAnswer() throws IOException {
    if (in.available() > 0) {
      return true;
    }
    if (!server.tls() || plain.getInputStream().available() == 0) {
      return false;
    }
    // What has come may be a message of TLS itself; reading it tells.
    readTimeout(TLS_MESSAGE_MS);
    try {
      return peek() >= 0;
    } catch (SocketTimeoutException nothing) {
      return false;
    }
  }

  private int peek() throws IOException {
    in.mark(1);
    int first = in.read();
    in.reset();
    return first;
  }

  /** Waits so long for the server to say that it wants the body, or that it refuses it; null: it has said nothing. */
  HttpAnswer early(int waitMs) throws IOException {
    readTimeout(waitMs);
    try {
      if (peek() < 0) {
        throw new IOException("it ended the connection without an answer");
      }
    } catch (SocketTimeoutException nothing) {
      return null;
    }
    readTimeout(ANSWER_MS);
    return HttpAnswer.read(in, true);
  }

  /** Waits for the answer; 0: for ever. */
  HttpAnswer answer(int waitMs) throws IOException {
    readTimeout(waitMs);
    return HttpAnswer.read(in, false);
  }

  void used() {
    lastUse = System.nanoTime();
  }

  boolean reusable() {
    return !closed && System.nanoTime() - lastUse < REUSE_NS;
  }

  /** Ends the connection, also where another thread waits for it. TLS's own farewell could wait for that thread. */
  @Override
  public void close() {
    closed = true;
    try {
      plain.close();
    } catch (IOException ignored) {
      // It is of no use any more.
    }
  }
}
