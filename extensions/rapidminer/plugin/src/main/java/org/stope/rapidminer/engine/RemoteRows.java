// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A table that is sent to the server while it is filled; no more than a block of it is in this process. */
final class RemoteRows implements RowSink {
  private static final String TABLES = "/v1/tables";
  private static final int EARLY_MS = 2000;
  private static final int CONTINUE = 100;
  private static final long MOST_WAIT_NS = TimeUnit.MINUTES.toNanos(10);

  private final RemoteSession session;
  private final List<ColumnHeader> columns;
  private HttpConnection connection;
  private HttpBodies.ChunkedOutput body;
  private String job;
  private String name;
  private long bytes;

  RemoteRows(RemoteSession session, List<ColumnHeader> columns) throws EngineException {
    this.session = session;
    this.columns = new ArrayList<ColumnHeader>(columns);
    byte[] head = RowsFormat.head(columns);
    long giveUp = System.nanoTime() + MOST_WAIT_NS;
    boolean broken = false;
    while (body == null) {
      try {
        connection = session.connection();
        job = session.sendHead(connection, "POST", TABLES, RowsFormat.MEDIA_TYPE, -1, true);
        HttpAnswer early = connection.early(EARLY_MS);
        if (early != null && early.status() != CONTINUE) {
          int pause = RemoteSession.pauseOf(early);
          if (pause == 0 || System.nanoTime() > giveUp) {
            session.read(connection, early, (answer) -> null);
            throw new HttpGarbage("it took a table before it was sent");
          }
          drop();
          session.pause(pause);
          continue;
        }
        body = new HttpBodies.ChunkedOutput(connection.body());
        body.write(head, 0, head.length);
        session.jobs().end();  // the server now waits for this process, which may take long
      } catch (IOException error) {
        drop();
        if (broken || error instanceof HttpGarbage) {
          throw session.failure(error);
        }
        broken = true;  // nothing of the table is sent yet
      } catch (EngineException refused) {
        drop();
        throw refused;
      }
    }
  }

  /** The columns that a model of this table wants to have in its queries. */
  List<ColumnHeader> regular() {
    List<ColumnHeader> regular = new ArrayList<ColumnHeader>();
    for (ColumnHeader column : columns) {
      if (column.role() == ColumnHeader.Role.REGULAR) {
        regular.add(column);
      }
    }
    return regular;
  }

  long bytes() {
    return bytes;
  }

  @Override
  public void append(ByteBuffer block, int rows) throws EngineException {
    if (body == null) {
      throw new IllegalStateException("the table is complete");
    }
    long size = 8L * columns.size() * rows;
    try {
      if (connection.hasAnswer()) {
        refused();
      }
      RowsFormat.send(block, size, body);
      bytes += size;
    } catch (IOException error) {
      throw refusal(error);
    }
  }

  // A server that answers before the end refuses the rest.
  private void refused() throws IOException, EngineException {
    HttpAnswer answer = connection.answer(HttpConnection.ANSWER_MS);
    body = null;
    session.read(connection, answer, (unread) -> null);
    throw new HttpGarbage("it took a table before it was complete");
  }

  /** The answer to a body that could not be sent to its end is the better explanation, if it has arrived. */
  private EngineException refusal(IOException error) {
    try {
      if (body != null && !(error instanceof HttpGarbage)) {
        refused();
      }
    } catch (IOException silent) {
      // What broke the connection is all that is known.
    } catch (EngineException refusal) {
      drop();
      return refusal;
    }
    drop();
    return session.failure(error);
  }

  /** Ends the table if it is still open. */
  void complete() throws EngineException {
    if (body != null) {
      finish();
    }
  }

  /** Ends the table, and says its name on the server. */
  String finish() throws EngineException {
    if (name != null) {
      return name;
    }
    if (body == null) {
      throw new IllegalStateException("the table is closed");
    }
    try {
      body.finish();
      session.jobs().resume(job);
      HttpAnswer answer = connection.answer(0);
      body = null;
      name = session.read(connection, answer, (made) -> RemoteSession.nameOf(made));
      connection = null;
      return name;
    } catch (IOException error) {
      throw refusal(error);
    } finally {
      session.jobs().end();
    }
  }

  private void drop() {
    body = null;
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }

  /** Deletes the table. An incomplete one is forgotten by the server as soon as the connection ends. */
  @Override
  public void close() {
    drop();
    if (name != null) {
      session.delete(TABLES + "/" + name);
      name = null;
    }
  }
}
