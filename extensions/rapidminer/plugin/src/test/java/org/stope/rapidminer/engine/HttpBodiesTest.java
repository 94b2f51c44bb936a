// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** A body is read as it was sent, and one that was cut is never taken for a shorter one. */
final class HttpBodiesTest {
  private static final String HEAD = "HTTP/1.1 200 OK\r\n";

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static String read(byte[] message) throws IOException {
    HttpAnswer answer = HttpAnswer.read(new ByteArrayInputStream(message), false);
    String body = new String(answer.bytes(1000), StandardCharsets.US_ASCII);
    assertTrue(answer.drained());
    return body;
  }

  @Test
  void bodiesOfEitherKindAreReadWhole() throws IOException {
    assertEquals("hello", read(bytes(HEAD + "content-LENGTH:5\r\n\r\nhello, next")));
    assertEquals("hello world",
        read(bytes(HEAD + "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nA: b\r\n\r\n")));
    assertEquals("", read(bytes("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")));
  }

  @Test
  void aBodyThatIsCutAnywhereIsAnError() {
    for (String rest : new String[] {"Content-Length: 5\r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"}) {
      byte[] whole = bytes(HEAD + rest);
      int begin = new String(whole, StandardCharsets.US_ASCII).indexOf("\r\n\r\n") + 4;
      for (int length = begin; length < whole.length; length++) {
        byte[] cut = Arrays.copyOf(whole, length);
        assertThrows(IOException.class, () -> read(cut), new String(cut, StandardCharsets.US_ASCII));
      }
    }
    assertThrows(EOFException.class, () -> read(bytes(HEAD + "Content-Length: 9\r\n\r\nhello")));
  }

  @Test
  void whatIsTooLongIsRefused() {
    String long2000 = new String(new char[2000]);
    assertThrows(HttpGarbage.class, () -> read(bytes(HEAD + "Content-Length: 2000\r\n\r\n" + long2000)));
    assertThrows(HttpGarbage.class, () -> read(bytes(HEAD + "Content-Length: 9999999999999999999\r\n\r\n")));
    assertThrows(HttpGarbage.class, () -> read(bytes(HEAD + "Content-Length: -1\r\n\r\n")));
  }

  @Test
  void chunksAreWrittenAsTheyAreRead() throws IOException {
    ByteArrayOutputStream to = new ByteArrayOutputStream();
    to.write(bytes(HEAD + "Transfer-Encoding: chunked\r\n\r\n"));
    HttpBodies.ChunkedOutput body = new HttpBodies.ChunkedOutput(to);
    body.write('a');
    body.write(new byte[0], 0, 0);  // an empty chunk would end the body
    body.write(bytes("0123456789abcdefghij"), 0, 20);
    assertThrows(EOFException.class, () -> read(to.toByteArray()));
    body.finish();
    assertEquals("a0123456789abcdefghij", read(to.toByteArray()));
  }
}
