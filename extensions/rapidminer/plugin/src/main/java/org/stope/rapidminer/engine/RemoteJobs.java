// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The jobs of a session, one after the other. The session gives each a name, so that another connection can ask how far
 * it is, and end it. Short jobs are never asked.
 */
final class RemoteJobs {
  private static final long ASK_AFTER_NS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long SILENCE_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int TIMEOUT_MS = 5000;
  private static final int OK = 200;

  private final RemoteSession session;
  private String running;
  private String last;
  private long asked;
  private long answered;
  private boolean asking;
  private Progress progress = Progress.NONE;

  RemoteJobs(RemoteSession session) {
    this.session = session;
  }

  /** A new job, and its name. */
  synchronized String begin() {
    running = UUID.randomUUID().toString().replace("-", "");
    last = running;
    progress = Progress.NONE;
    asked = System.nanoTime();
    answered = asked;
    return running;
  }

  synchronized void end() {
    running = null;
    progress = Progress.NONE;
  }

  /** Watches a job again that has been waiting for this process. */
  synchronized void resume(String job) {
    running = job;
    asked = System.nanoTime();
    answered = asked;
  }

  /** What is known; sometimes it starts a question on a thread of its own, and never waits for the answer. */
  synchronized Progress progress() {
    long now = System.nanoTime();
    if (running != null && !asking && now - asked >= ASK_AFTER_NS) {
      asking = true;
      asked = now;
      final String name = running;
      background(() -> ask(name));
    }
    return progress;
  }

  private void ask(String name) {
    Map<String, Object> state = null;
    boolean there = true;
    try {
      state = once(HttpRequest.get("/v1/jobs/" + name));
    } catch (IOException error) {
      there = false;
    }
    boolean silent;
    synchronized (this) {
      asking = false;
      if (!name.equals(running)) {
        return;
      }
      long now = System.nanoTime();
      answered = there ? now : answered;
      silent = now - answered > SILENCE_NS;
      if (state != null && JsonText.number(state, "total", 0) > 0) {
        progress = new Progress(JsonText.text(state, "phase", ""), (long) JsonText.number(state, "done", 0),
            (long) JsonText.number(state, "total", 0));
      }
    }
    if (silent) {
      session.giveUp();
    }
  }

  /** Why the last job failed, where its answer had already begun; null if that is not known. */
  EngineException problem() {
    String name;
    synchronized (this) {
      name = last;
    }
    try {
      Map<String, Object> state = name == null ? null : once(HttpRequest.get("/v1/jobs/" + name));
      Map<String, Object> problem = JsonText.object(state == null ? null : state.get("problem"));
      return problem.isEmpty() ? null
          : ServerWords.of(session.server(), (int) JsonText.number(problem, "status", 500), problem);
    } catch (IOException unknown) {
      return null;
    }
  }

  void cancel() {
    String name;
    synchronized (this) {
      name = running;
    }
    if (name != null) {
      apart(Collections.singletonList(new HttpRequest("DELETE", "/v1/jobs/" + name)));
    }
  }

  /** Sends requests that nobody waits for, one after the other. */
  void apart(List<HttpRequest> requests) {
    background(() -> {
      try {
        for (HttpRequest request : requests) {
          once(request);
        }
      } catch (IOException nobodyWaits) {
        // The server finds out by itself.
      }
    });
  }

  private static void background(Runnable work) {
    Thread thread = new Thread(work, "stope server");
    thread.setDaemon(true);
    thread.start();
  }

  /** One question on a connection of its own; null if the server does not know the job. */
  private Map<String, Object> once(HttpRequest request) throws IOException {
    try (HttpConnection connection = session.connect(TIMEOUT_MS)) {
      session.sendHead(connection, request.method(), request.path(), "", 0, false);
      HttpAnswer answer = connection.answer(TIMEOUT_MS);
      return answer.status() == OK ? answer.json() : null;
    }
  }
}
