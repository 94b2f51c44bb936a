// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Servers that are not there, are something else, refuse, break off, or are slow: each is told in words. */
final class RemoteFailuresTest {
  private static final Map<String, String> NO_OPTIONS = Collections.emptyMap();
  private static final List<ColumnHeader> ONE = Collections.singletonList(
      ColumnHeader.real("a", ColumnHeader.Role.REGULAR));

  private static EngineSession open(String server) throws EngineException {
    return open(server, Settings.Device.AUTO);
  }

  private static EngineSession open(String server, Settings.Device device) throws EngineException {
    Settings settings = new Settings(device, "", server);
    return Engines.of(settings).open(settings);
  }

  private static void refused(EngineException.Kind kind, String words, org.junit.jupiter.api.function.Executable what) {
    EngineException error = assertThrows(EngineException.class, what);
    assertTrue(error.getMessage().contains(words), error.getMessage());
    assertEquals(kind, error.kind(), error.getMessage());
  }

  /** What a session of a server with this hello says. */
  private static void hello(byte[] answer, EngineException.Kind kind, String words) throws Exception {
    try (ScriptedServer server = new ScriptedServer((seen) -> answer)) {
      server.handlesHello = true;
      refused(kind, words, () -> open(server.address()));
    }
  }

  private static RowSink filled(EngineSession session, int rows) throws EngineException {
    RowSink sink = session.rows(ONE, rows);
    sink.append(ByteBuffer.allocateDirect(8 * rows), rows);
    return sink;
  }

  private static byte[] made(String path) {
    return ("HTTP/1.1 201 Created\r\nLocation: " + path + "\r\nContent-Length: 0\r\n\r\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** Takes tables and models; the script does the rest. */
  private static ScriptedServer.Script around(ScriptedServer.Script rest) {
    return (seen) -> seen.line.startsWith("POST /v1/tables") ? made("/v1/tables/~t")
        : seen.line.startsWith("POST /v1/models/fit") ? made("/v1/models/~m") : rest.answer(seen);
  }

  private static ResultTable stats(EngineSession session) throws EngineException {
    return session.compute("stats", filled(session, 2), null, NO_OPTIONS);
  }

  @Test
  void aServerThatIsNotThereIsSaidNotToBe() throws Exception {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      free = socket.getLocalPort();
    }
    refused(EngineException.Kind.NO_SERVER, "Nothing answers at 'http://127.0.0.1:" + free + "'",
        () -> open("http://127.0.0.1:" + free));
    ServerAddress nobody = ServerAddress.of("nobody.invalid:1");
    refused(EngineException.Kind.NO_SERVER, "No machine with the name 'nobody.invalid'", () -> RemoteEngine.open(nobody,
        ServerAccess.to(nobody), new Settings(Settings.Device.AUTO, "", "")));
    refused(EngineException.Kind.UNSUITABLE, "HOST:PORT", () -> open("gpu-box"));
  }

  @Test
  void aServerThatTheUserDoesNotKnowGetsNothing() throws Exception {
    try (ScriptedServer server = new ScriptedServer((seen) -> ScriptedServer.NOTHING)) {
      refused(EngineException.Kind.NO_ACCESS, "nothing was sent", () -> open("127.0.0.1:" + server.port()));
      assertEquals(0, server.connections.get());
    }
  }

  @Test
  void whatIsNoStopeServerIsSaidToBeNone() throws Exception {
    EngineException.Kind kind = EngineException.Kind.NO_SERVER;
    hello("SSH-2.0-OpenSSH_9.2\r\n".getBytes(StandardCharsets.US_ASCII), kind, "does not answer in HTTP");
    hello(ScriptedServer.answer("200 OK", "text/html", "<html>"), kind, "is no JSON");
    hello(ScriptedServer.json("{\"version\":\"7\"}"), kind, "does not say which version");
    hello(ScriptedServer.answer("404 Not Found", "text/html", "x"), kind, "the HTTP status 404 and no explanation");
    hello("HTTP/1.1 200 OK\r\n\r\n{}".getBytes(StandardCharsets.US_ASCII), kind, "does not say how long it is");
    hello("HTTP/1.1 200 OK\r\nno colon\r\n\r\n".getBytes(StandardCharsets.US_ASCII), kind, "no headers of HTTP");
    hello("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".getBytes(StandardCharsets.US_ASCII), kind,
        "a chunk of its answer has no size");
    hello("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n".getBytes(StandardCharsets.US_ASCII), kind,
        "nobody asked for");
    byte[] endless = new byte[HttpBodies.MOST_LINE + 10];
    Arrays.fill(endless, (byte) 'x');
    hello(endless, kind, "does not end");
    hello(ScriptedServer.json("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["), kind, "is no JSON");
  }

  @Test
  void aServerThatIsTooOldIsSaidToBe() throws Exception {
    hello(ScriptedServer.json(ScriptedServer.HELLO.replace("vnd.stope.rows", "json")),
        EngineException.Kind.NO_SERVER, "too old for this extension: it has version 0.1.0");
  }

  @Test
  void aGpuIsAskedForWhereThereIsNone() throws Exception {
    try (ScriptedServer server = new ScriptedServer((seen) -> ScriptedServer.NOTHING)) {
      refused(EngineException.Kind.NO_GPU, "computes on its CPU", () -> open(server.address(), Settings.Device.GPU));
      open(server.address(), Settings.Device.CPU).close();
    }
  }

  @Test
  void aRedirectionIsNotFollowed() throws Exception {
    try (ScriptedServer other = new ScriptedServer((seen) -> ScriptedServer.json(ScriptedServer.HELLO))) {
      for (int status : new int[] {301, 302, 303, 307, 308}) {
        hello(("HTTP/1.1 " + status + " Moved\r\nLocation: " + other.address() + "/v1\r\nContent-Length: 0\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII), EngineException.Kind.NO_SERVER, "not followed");
      }
      assertEquals(0, other.connections.get());
    }
  }

  @Test
  void aWrongTokenAndAMissingRightAreToldInTheServersWords() throws Exception {
    hello(ScriptedServer.problem(401, "token-missing", "A token is needed."), EngineException.Kind.NO_ACCESS,
        "says: A token is needed.");
    hello(ScriptedServer.json(ScriptedServer.HELLO.replace("\"compute\"", "\"read\"")), EngineException.Kind.NO_ACCESS,
        "right to read alone");
    hello(ScriptedServer.problem(403, "right", "This token may only read."), EngineException.Kind.NO_ACCESS,
        "says: This token may only read.");
  }

  @Test
  void problemsOfAJobHaveTheEnginesKinds() throws Exception {
    Object[][] all = {{400, "invalid-argument", EngineException.Kind.UNSUITABLE},
        {422, "invalid-data", EngineException.Kind.UNSUITABLE}, {507, "out-of-memory", EngineException.Kind.MEMORY},
        {503, "device-unavailable", EngineException.Kind.NO_GPU}, {503, "device-lost", EngineException.Kind.GPU_LOST},
        {409, "cancelled", EngineException.Kind.CANCELLED}, {500, "internal", EngineException.Kind.INTERNAL},
        {503, "time-limit", EngineException.Kind.NO_SERVER}, {404, "not-found", EngineException.Kind.UNSUITABLE}};
    for (Object[] one : all) {
      try (ScriptedServer server = new ScriptedServer(around((seen) -> seen.line.startsWith("DELETE")
          ? ScriptedServer.json("{}") : ScriptedServer.problem((Integer) one[0], (String) one[1], "Why < how.")));
          EngineSession session = open(server.address())) {
        refused((EngineException.Kind) one[2], "Why < how.", () -> stats(session));
        assertTrue(server.lines.contains("DELETE /v1/tables/~t"), server.lines.toString());
      }
    }
  }

  @Test
  void aBusyServerIsAskedAgainWhenItSays() throws Exception {
    AtomicInteger busy = new AtomicInteger(1);
    try (ScriptedServer server = new ScriptedServer((seen) -> busy.getAndDecrement() > 0
        ? ("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n").getBytes(StandardCharsets.US_ASCII)
        : ScriptedServer.json(ScriptedServer.HELLO))) {
      server.handlesHello = true;
      open(server.address()).close();
      assertEquals(2, server.lines.size());
    }
  }

  @Test
  void aBrokenConnectionIsTriedOnceMore() throws Exception {
    for (int failures = 1; failures <= 2; failures++) {
      AtomicInteger left = new AtomicInteger(failures);
      try (ScriptedServer server = new ScriptedServer((seen) -> left.getAndDecrement() > 0 ? ScriptedServer.NOTHING
          : ScriptedServer.json(ScriptedServer.HELLO))) {
        server.handlesHello = true;
        if (failures == 1) {
          open(server.address()).close();
        } else {
          refused(EngineException.Kind.NO_SERVER, "broke: it ended the connection without an answer",
              () -> open(server.address()));
        }
        assertEquals(2, server.lines.size());
      }
    }
  }

  @Test
  void anAnswerThatIsCutIsNeverTakenForAWholeOne() throws Exception {
    byte[] head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    String line = "{\"columns\":[{\"name\":\"a\",\"type\":\"real\"}],\"order\":\"columns\"}\n";
    byte[] cut = ScriptedServer.join(head,
        (Integer.toHexString(line.length()) + "\r\n" + line + "\r\n").getBytes(StandardCharsets.US_ASCII));
    for (boolean known : new boolean[] {false, true}) {
      String state = "{\"state\":\"failed\",\"problem\":{\"status\":507,\"code\":\"out-of-memory\","
          + "\"detail\":\"Too big.\"}}";
      try (ScriptedServer server = new ScriptedServer(around((seen) -> seen.line.startsWith("POST /v1/compute") ? cut
          : known ? ScriptedServer.json(state) : ScriptedServer.problem(404, "not-found", "No job.")))) {
        server.closesAfterAnswer = true;
        try (EngineSession session = open(server.address())) {
          refused(known ? EngineException.Kind.MEMORY : EngineException.Kind.NO_SERVER,
              known ? "Too big." : "ends before it is complete", () -> stats(session));
        }
      }
    }
  }

  @Test
  void aTableThatIsRefusedBeforeItsEndIsToldInTheServersWords() throws Exception {
    try (ScriptedServer server = new ScriptedServer((seen) -> {
      seen.out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      return ScriptedServer.problem(413, "too-many-rows", "The table has too many rows.");
    }); EngineSession session = open(server.address())) {
      server.readsBodies = false;
      refused(EngineException.Kind.UNSUITABLE, "too many rows", () -> {
        RowSink sink = session.rows(ONE, 0);
        for (int block = 0; block < 1000; block++) {
          sink.append(ByteBuffer.allocateDirect(1 << 16), 1 << 13);
        }
        session.compute("stats", sink, null, NO_OPTIONS);
      });
    }
  }

  @Test
  void aTableThatIsRefusedIsSentNoFurther() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedServer server = new ScriptedServer((seen) -> {
      seen.out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      seen.out.write(ScriptedServer.problem(413, "body-too-large", "The body is too large."));
      over.await();  // it reads nothing, so sending would wait for ever
      return ScriptedServer.NOTHING;
    }); EngineSession session = open(server.address())) {
      server.readsBodies = false;
      assertTimeoutPreemptively(Duration.ofSeconds(60), () -> refused(EngineException.Kind.UNSUITABLE, "too large",
          () -> {
        RowSink sink = session.rows(ONE, 0);
        for (int block = 0; block < 1000; block++) {
          sink.append(ByteBuffer.allocateDirect(1 << 16), 1 << 13);
          Thread.sleep(1);
        }
      }));
      over.countDown();
    }
  }

  @Test
  void aTableThatIsRefusedAtOnceIsNotSent() throws Exception {
    try (ScriptedServer server = new ScriptedServer((seen) -> ScriptedServer.problem(403, "right", "Only reading."));
        EngineSession session = open(server.address())) {
      server.readsBodies = false;
      refused(EngineException.Kind.NO_ACCESS, "Only reading.", () -> session.rows(ONE, 0));
    }
  }

  @Test
  void aJobThatIsStoppedEndsHereAndThere() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    String[] job = new String[1];
    try (ScriptedServer server = new ScriptedServer(around((seen) -> {
      if (seen.line.startsWith("POST /v1/compute")) {
        job[0] = seen.headers.get("stope-job");
        begun.countDown();
        over.await();
        return ScriptedServer.NOTHING;
      }
      if (seen.line.startsWith("DELETE /v1/jobs/" + job[0] + " ")) {
        ended.countDown();
      }
      return ScriptedServer.json("{}");
    })); EngineSession session = open(server.address())) {
      Thread stopper = new Thread(() -> {
        try {
          begun.await();
        } catch (InterruptedException stop) {
          throw new IllegalStateException(stop);
        }
        session.cancel();
      });
      stopper.start();
      refused(EngineException.Kind.CANCELLED, "cancelled", () -> stats(session));
      assertTrue(ended.await(20, TimeUnit.SECONDS), "the server was not asked to end the job");
      assertTrue(job[0].matches("[A-Za-z0-9_-]{22,64}"), job[0]);
      refused(EngineException.Kind.CANCELLED, "cancelled", () -> filled(session, 1));
      over.countDown();
      stopper.join();
    }
  }

  @Test
  void theProgressOfALongJobIsAskedFor() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedServer server = new ScriptedServer(around((seen) -> {
      if (seen.line.startsWith("GET /v1/jobs/")) {
        return ScriptedServer.json("{\"phase\":\"search\",\"done\":3,\"total\":4}");
      }
      if (seen.line.startsWith("POST /v1/compute")) {
        over.await();
        return ScriptedServer.problem(400, "invalid-argument", "over");
      }
      return ScriptedServer.json("{}");
    })); EngineSession session = open(server.address())) {
      Thread looker = new Thread(() -> {
        while (session.progress().share() != 0.75) {
          Thread.yield();
        }
        over.countDown();
      });
      looker.start();
      refused(EngineException.Kind.UNSUITABLE, "over", () -> stats(session));
      looker.join();
      assertEquals(0, session.progress().share());
      long questions = server.lines.stream().filter((line) -> line.startsWith("GET /v1/jobs/")).count();
      assertTrue(questions < 20, questions + " questions");
    }
  }

  @Test
  void aModelThatHasExpiredIsSaidToHave() throws Exception {
    try (ScriptedServer server = new ScriptedServer(around((seen) -> seen.line.startsWith("DELETE")
        ? ScriptedServer.json("{}") : ScriptedServer.problem(404, "no-model", "there is no model '~m'")));
        EngineSession session = open(server.address());
        FittedModel model = session.fit("regress", filled(session, 2), NO_OPTIONS)) {
      refused(EngineException.Kind.NO_SERVER, "Learn it again",
          () -> model.apply(session, ByteBuffer.allocateDirect(8), 1, NO_OPTIONS));
    }
  }

  @Test
  void namesThatAreNoNamesAreRefused() throws Exception {
    for (String place : new String[] {"", "/v1/tables/", "/v1/tables/a b", "/v1/tables/a%2Fb"}) {
      try (ScriptedServer server = new ScriptedServer((seen) -> made(place));
          EngineSession session = open(server.address())) {
        refused(EngineException.Kind.NO_SERVER, "under which name", () -> stats(session));
      }
    }
  }

  @Test
  void textThatIsNoneIsRefusedBeforeItIsSent() throws Exception {
    try (ScriptedServer server = new ScriptedServer((seen) -> made("/v1/tables/~t"));
        EngineSession session = open(server.address())) {
      refused(EngineException.Kind.UNSUITABLE, "surrogate", () -> session.rows(Collections.singletonList(
          ColumnHeader.real("a\ud800", ColumnHeader.Role.REGULAR)), 0));
      assertFalse(server.lines.contains("POST /v1/tables"));
    }
  }
}
