// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A model that a server holds, under a name that only this object knows. */
final class RemoteModel implements FittedModel {
  private static final String MODELS = "/v1/models/";
  private static final String MODEL_FILE = "application/octet-stream";
  // Much on a server's disk: the garbage collector is called for models that nobody uses when they hold so much.
  private static final NativeMemory ON_SERVERS = new NativeMemory(1L << 30, System::gc);

  private final RemoteSession home;
  private final String path;
  private final byte[] head;
  private final int columns;
  private final Reference<?> reference;
  private boolean closed;

  RemoteModel(RemoteSession session, String name, List<ColumnHeader> columns, long bytes) throws EngineException {
    this.home = session.sister();
    this.path = MODELS + name;
    this.head = RowsFormat.head(columns);
    this.columns = columns.size();
    this.reference = UnusedModels.INSTANCE.add(this, home, path);
    ON_SERVERS.add(this, bytes);
  }

  /** Sends a model file. */
  static RemoteModel load(RemoteSession session, final byte[] file) throws EngineException {
    HttpRequest request = new HttpRequest("POST", "/v1/models") {
      @Override
      long length() {
        return file.length;
      }

      @Override
      String mediaType() {
        return MODEL_FILE;
      }

      @Override
      void send(OutputStream to) throws IOException {
        to.write(file);
        to.flush();
      }
    };
    final List<ColumnHeader> columns = new ArrayList<ColumnHeader>();
    String name = session.ask(request.job(), (answer) -> {
      columns.addAll(columnsOf(answer.json()));
      return RemoteSession.nameOf(answer);
    });
    return new RemoteModel(session, name, columns, file.length);
  }

  /** The columns that the model wants, in its order. */
  private static List<ColumnHeader> columnsOf(Map<String, Object> info) {
    List<ColumnHeader> columns = new ArrayList<ColumnHeader>();
    for (Object item : JsonText.list(info.get("columns"))) {
      Map<String, Object> column = JsonText.object(item);
      if (!"regular".equals(column.get("role"))) {
        continue;
      }
      String type = JsonText.text(column, "type", "real");
      List<String> values = new ArrayList<String>();
      for (Object value : JsonText.list(column.get("values"))) {
        values.add(String.valueOf(value));
      }
      columns.add(new ColumnHeader(JsonText.text(column, "name", ""), ColumnHeader.Role.REGULAR,
          type.equals("binominal") ? ColumnHeader.Type.BINOMINAL
              : type.endsWith("nominal") ? ColumnHeader.Type.NOMINAL : ColumnHeader.Type.REAL, values));
    }
    return columns;
  }

  boolean isOn(ServerAddress server) {
    return home.server().toString().equals(server.toString());
  }

  @Override
  public ResultTable apply(EngineSession session, final ByteBuffer block, int rows, Map<String, String> options)
      throws EngineException {
    final long size = 8L * columns * rows;
    HttpRequest request = new HttpRequest("POST", path + "/predict") {
      @Override
      long length() {
        return head.length + size;
      }

      @Override
      String mediaType() {
        return RowsFormat.MEDIA_TYPE;
      }

      @Override
      void send(OutputStream to) throws IOException {
        to.write(head);
        RowsFormat.send(block, size, to);
      }
    };
    return ((RemoteSession) session).ask(request.job().with(options), (answer) -> RowsFormat.read(answer.body()));
  }

  @Override
  public ResultTable part(String name) throws EngineException {
    try (RemoteSession session = home.sister()) {
      return session.ask(HttpRequest.get(path + "/tables/" + HttpRequest.escaped(name)),
          (answer) -> RowsFormat.read(answer.body()));
    }
  }

  @Override
  public byte[] bytes() throws EngineException {
    try (RemoteSession session = home.sister()) {
      byte[] file = session.ask(HttpRequest.get(path + "/file"),
          (answer) -> tooLarge(answer) ? null : answer.bytes(Integer.MAX_VALUE - 16));
      if (file == null) {
        throw new EngineException(EngineException.Kind.UNSUITABLE, LocalSession.TOO_LARGE, null);
      }
      return file;
    }
  }

  private static boolean tooLarge(HttpAnswer answer) {
    String length = answer.header("content-length");
    return !length.isEmpty() && Long.parseLong(length) > Integer.MAX_VALUE - 16;
  }

  /** A server looks after its memory itself. */
  @Override
  public void release() {}

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      UnusedModels.INSTANCE.forget(reference);
      home.deleteApart(Collections.singletonList(path));
    }
  }
}
