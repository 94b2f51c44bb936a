// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A session on a server. Every call is a request of HTTP, on one connection after the other. The server keeps tables
 * and models for it, under names that only this session knows. They are deleted when nobody needs them any more.
 */
final class RemoteSession implements EngineSession {
  // What a GPU takes at once; a smaller block costs as many bytes and more requests.
  private static final int BLOCK_ROWS = 33792;
  private static final long MOST_WAIT_NS = TimeUnit.MINUTES.toNanos(10);
  private static final int MOST_PAUSE_S = 30;
  private static final int LOOK_MS = 100;
  private static final int MOST_NOTES = 100;
  private static final String BACKEND = "backend ";

  private final ServerAddress server;
  private final ServerAccess access;
  private final Set<String> notes = new LinkedHashSet<String>();
  private final RemoteJobs jobs;
  private HttpConnection idle;
  private RemoteRows filling;
  private volatile HttpConnection running;
  private volatile boolean cancelled;
  private volatile boolean silent;

  RemoteSession(ServerAddress server, ServerAccess access) {
    this.server = server;
    this.access = access;
    this.jobs = new RemoteJobs(this);
  }

  /** Reads an answer that is no refusal. */
  interface Reader<T> {
    T read(HttpAnswer answer) throws IOException;
  }

  ServerAddress server() {
    return server;
  }

  RemoteJobs jobs() {
    return jobs;
  }

  /** A session of its own on the same server. */
  RemoteSession sister() {
    return new RemoteSession(server, access);
  }

  /**
   * Sends a request, and again where that is safe: after a connection broke, once; and while the server says that it is
   * busy and when to ask again.
   */
  <T> T ask(HttpRequest request, Reader<T> reader) throws EngineException {
    long giveUp = System.nanoTime() + MOST_WAIT_NS;
    boolean broken = false;
    while (true) {
      HttpConnection connection = connection();
      try {
        HttpAnswer answer = exchange(connection, request);
        int pause = pauseOf(answer);
        if (pause > 0 && System.nanoTime() < giveUp) {
          keep(connection, answer);
          pause(pause);
          continue;
        }
        return read(connection, answer, reader);
      } catch (IOException error) {
        connection.close();
        if (broken || !breaks(error)) {
          throw failure(error);
        }
        stopIfCancelled();
        broken = true;
      } finally {
        running = null;
        jobs.end();
      }
    }
  }

  // A server may refuse a body before it has read it, so that sending fails though there is an answer.
  private HttpAnswer exchange(HttpConnection connection, HttpRequest request) throws IOException {
    sendHead(connection, request.method(), request.path(), request.mediaType(), request.length(), request.isJob());
    IOException broken = null;
    try {
      request.send(connection.body());
    } catch (IOException error) {
      broken = error;
    }
    try {
      return connection.answer(request.isJob() && broken == null ? 0 : HttpConnection.ANSWER_MS);
    } catch (IOException error) {
      throw broken == null ? error : broken;
    }
  }

  // A server that does not answer in time, or in HTTP, would do so again.
  private boolean breaks(IOException error) {
    return !silent && !(error instanceof HttpGarbage) && !(error instanceof java.net.SocketTimeoutException);
  }

  /** Reads an answer, refusal or not, and keeps the connection if it can be used again. */
  <T> T read(HttpConnection connection, HttpAnswer answer, Reader<T> reader) throws IOException, EngineException {
    if (answer.status() < 200 || answer.status() >= 300) {
      EngineException refusal = ServerWords.of(server, answer);
      keep(connection, answer);
      throw refusal;
    }
    note(answer.header("stope-notes"));
    T result;
    try {
      result = reader.read(answer);
    } catch (IOException cut) {
      EngineException why = cancelled ? null : jobs.problem();
      if (why == null) {
        throw cut;
      }
      connection.close();
      throw why;
    }
    keep(connection, answer);
    return result;
  }

  private void keep(HttpConnection connection, HttpAnswer answer) throws IOException {
    if (answer.drained() && idle == null) {
      connection.used();
      idle = connection;
    } else {
      connection.close();
    }
  }

  /** A connection of its own, which {@link #cancel} does not end. */
  HttpConnection connect(int timeoutMs) throws IOException {
    HttpConnection connection = new HttpConnection(server);
    try {
      connection.connect(access.fingerprint(), timeoutMs);
      return connection;
    } catch (IOException error) {
      connection.close();
      throw error;
    }
  }

  /** A connection that nobody uses, connected, and known to {@link #cancel}. */
  HttpConnection connection() throws EngineException {
    HttpConnection connection = idle;
    idle = null;
    if (connection != null && !connection.reusable()) {
      connection.close();
      connection = null;
    }
    boolean fresh = connection == null;
    if (fresh) {
      connection = new HttpConnection(server);
    }
    running = connection;
    try {
      stopIfCancelled();
      if (fresh) {
        connection.connect(access.fingerprint(), HttpConnection.CONNECT_MS);
      }
      return connection;
    } catch (IOException error) {
      connection.close();
      throw failure(error);
    }
  }

  /** Gives the name of the job; null where there is none. */
  String sendHead(HttpConnection connection, String method, String path, String type, long length, boolean job)
      throws IOException {
    Map<String, String> headers = new LinkedHashMap<String, String>();
    headers.put("User-Agent", "stope-rapidminer");
    headers.put("Accept", RowsFormat.MEDIA_TYPE + ", application/json;q=0.5, */*;q=0.1");
    headers.put("Accept-Encoding", "identity");
    if (!access.token().isEmpty()) {
      headers.put("Authorization", "Bearer " + access.token());
    }
    if (!type.isEmpty()) {
      headers.put("Content-Type", type);
    }
    if (length < 0) {
      headers.put("Expect", "100-continue");
    }
    String name = job ? jobs.begin() : null;
    if (job) {
      headers.put("Stope-Job", name);
    }
    connection.head(method, path, headers, length);
    return name;
  }

  /** Seconds to wait where the server is busy; else 0. */
  static int pauseOf(HttpAnswer answer) {
    String seconds = answer.header("retry-after");
    boolean busy = (answer.status() == 503 || answer.status() == 429) && seconds.matches("[0-9]{1,6}");
    return busy ? Math.max(1, Math.min(MOST_PAUSE_S, Integer.parseInt(seconds))) : 0;
  }

  void pause(int seconds) throws EngineException {
    try {
      for (int waited = 0; waited < 1000 * seconds; waited += LOOK_MS) {
        stopIfCancelled();
        Thread.sleep(LOOK_MS);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw ServerWords.cancelled();
    }
  }

  private void stopIfCancelled() throws EngineException {
    if (cancelled) {
      throw ServerWords.cancelled();
    }
  }

  EngineException failure(IOException error) {
    if (cancelled) {
      return ServerWords.cancelled();
    }
    return silent ? ServerWords.lost("The server '" + server + "' has stopped answering in the middle of a job.", error)
        : ServerWords.of(server, error);
  }

  private void note(String header) {
    if (header.isEmpty()) {
      return;
    }
    try {
      for (Object note : JsonText.list(JsonText.parse(header))) {
        noteOne(String.valueOf(note));
      }
    } catch (IllegalArgumentException none) {
      notes.add("The server's notes cannot be read.");
    }
  }

  /** A thousand blocks say once where they were computed. Why no GPU was taken changes with every block. */
  private void noteOne(String note) {
    if (note.startsWith(BACKEND)) {
      notes.add("computed on the server '" + server + "' (" + note.substring(BACKEND.length()) + ")");
    } else if (!note.startsWith("device ") && notes.size() < MOST_NOTES) {
      notes.add(note);
    }
  }

  @Override
  public int blockRows() {
    return BLOCK_ROWS;
  }

  @Override
  public RowSink rows(List<ColumnHeader> columns, long expectedRows) throws EngineException {
    if (filling != null) {
      // The server gives up a body that pauses, and the next table may take long.
      filling.complete();
    }
    filling = new RemoteRows(this, columns);
    return filling;
  }

  @Override
  public FittedModel fit(String kind, RowSink rows, Map<String, String> options) throws EngineException {
    try (RemoteRows table = (RemoteRows) rows) {
      HttpRequest request = new HttpRequest("POST", "/v1/models/fit").job().with("kind", kind)
          .with("table", table.finish()).with(options);
      String name = ask(request, (answer) -> nameOf(answer));
      return new RemoteModel(this, name, table.regular(), table.bytes());
    }
  }

  /** The last part of the header Location. */
  static String nameOf(HttpAnswer answer) throws HttpGarbage {
    String place = answer.header("location");
    String name = place.substring(place.lastIndexOf('/') + 1).replace("%7E", "~").replace("%7e", "~");
    if (!name.matches("[A-Za-z0-9._~-]{1,200}")) {
      throw new HttpGarbage("it does not say under which name it keeps what it got");
    }
    return name;
  }

  @Override
  public FittedModel load(byte[] model) throws EngineException {
    return RemoteModel.load(this, model);
  }

  @Override
  public boolean holds(FittedModel model) {
    return model instanceof RemoteModel && ((RemoteModel) model).isOn(server);
  }

  @Override
  public ResultTable compute(String job, RowSink rows, RowSink other, Map<String, String> options)
      throws EngineException {
    try (RemoteRows first = (RemoteRows) rows; RemoteRows second = (RemoteRows) other) {
      HttpRequest request = new HttpRequest("POST", "/v1/compute/" + HttpRequest.escaped(job)).job()
          .with("table", first.finish());
      if (second != null) {
        request.with("other", second.finish());
      }
      return ask(request.with(options), (answer) -> RowsFormat.read(answer.body()));
    }
  }

  /** Deletes something on the server. What fails to be deleted expires there. */
  void delete(String path) {
    if (cancelled) {
      deleteApart(Collections.singletonList(path));
      return;
    }
    try {
      ask(new HttpRequest("DELETE", path), (answer) -> null);
    } catch (EngineException expires) {
      // Nothing depends on it.
    }
  }

  /** The same for several things, without waiting for the answers. */
  void deleteApart(List<String> paths) {
    List<HttpRequest> requests = new ArrayList<HttpRequest>();
    for (String path : paths) {
      requests.add(new HttpRequest("DELETE", path));
    }
    jobs.apart(requests);
  }

  /** The server has not answered for so long that nobody should wait any longer. */
  void giveUp() {
    silent = true;
    HttpConnection connection = running;
    if (connection != null) {
      connection.close();
    }
  }

  @Override
  public void cancel() {
    cancelled = true;
    // A server ends a job whose client is gone. The request is for a proxy between, which may not tell it.
    jobs.cancel();
    HttpConnection connection = running;
    if (connection != null) {
      connection.close();
    }
  }

  @Override
  public Progress progress() {
    return jobs.progress();
  }

  @Override
  public List<String> notes() {
    return new ArrayList<String>(notes);
  }

  @Override
  public void close() {
    if (idle != null) {
      idle.close();
      idle = null;
    }
  }
}
