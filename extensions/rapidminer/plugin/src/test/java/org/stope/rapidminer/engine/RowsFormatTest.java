// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Rows as they travel: every bit of a number, every name, and nothing that is incomplete. */
final class RowsFormatTest {
  private static final String HEAD = "{\"columns\":[{\"name\":\"a\",\"type\":\"real\"},{\"name\":\"b\",\"type\":"
      + "\"nominal\",\"values\":[\"x\",\"\\u00e4\\n\"]}],\"rows\":null,\"order\":\"columns\"}\n";

  private static byte[] body(String head, Object... numbers) {
    ByteBuffer body = ByteBuffer.allocate(8 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
    for (Object number : numbers) {
      if (number instanceof Long) {
        body.putLong((Long) number);
      } else {
        body.putDouble((Double) number);
      }
    }
    return ScriptedServer.join(head.getBytes(StandardCharsets.UTF_8), body.array());
  }

  private static ResultTable read(byte[] body) throws IOException {
    return RowsFormat.read(new ByteArrayInputStream(body));
  }

  @Test
  void blocksBecomeOneTable() throws IOException {
    double strange = Double.longBitsToDouble(0x7ff8000000000123L);
    ResultTable table = read(body(HEAD, 2L, 1.5, -0.0, 0.0, 1.0, 1L, strange, Double.NaN, 0L));
    assertEquals(3, table.rows());
    assertEquals("x", table.text(0, 1));
    assertEquals("ä\n", table.text(1, 1));
    assertEquals(null, table.text(2, 1));
    assertEquals(Double.doubleToRawLongBits(-0.0), Double.doubleToRawLongBits(table.column("a")[1]));
    assertEquals(0x7ff8000000000123L, Double.doubleToRawLongBits(table.column("a")[2]));
    assertFalse(table.nominal(0));
    assertEquals(0, read(body(HEAD, 0L)).rows());
  }

  @Test
  void largeBlocksKeepEveryNumber() throws IOException {
    int rows = 20001;
    Object[] numbers = new Object[2 + 2 * rows];
    Random random = new Random(1);
    numbers[0] = (long) rows;
    for (int r = 0; r < rows; r++) {
      numbers[1 + r] = random.nextGaussian();
      numbers[1 + rows + r] = (double) random.nextInt(2);
    }
    numbers[1 + 2 * rows] = 0L;
    ResultTable table = read(body(HEAD, numbers));
    for (int r = 0; r < rows; r++) {
      assertEquals(numbers[1 + r], table.column(0)[r]);
      assertEquals(numbers[1 + rows + r], table.column(1)[r]);
    }
  }

  private static void refused(String words, byte[] body) {
    IOException error = assertThrows(HttpGarbage.class, () -> read(body));
    assertTrue(error.getMessage().contains(words), error.getMessage());
  }

  @Test
  void whatIsIncompleteOrWrongIsRefused() {
    byte[] whole = body(HEAD, 2L, 1.5, -0.0, 0.0, 1.0, 0L);
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThrows(HttpGarbage.class, () -> read(cut), length + " bytes");
    }
    refused("complete", body(HEAD, Long.valueOf(Integer.MAX_VALUE - 100)));
    refused("more rows", body(HEAD, -1L));
    refused("more rows", body(HEAD, Long.MAX_VALUE));
    refused("code", body(HEAD, 1L, 1.0, 2.0, 0L));
    refused("code", body(HEAD, 1L, 1.0, -1.0, 0L));
    refused("code", body(HEAD, 1L, 1.0, 0.5, 0L));
    refused("order", body(HEAD.replace("\"order\":\"columns\"", "\"order\":\"rows\""), 0L));
    refused("no JSON", body("nonsense\n"));
  }

  @Test
  void aBlockIsSentRowByRowAndNoMore() throws IOException {
    ByteBuffer block = ByteBuffer.allocateDirect(8 * 100000).order(ByteOrder.nativeOrder());
    for (int i = 0; i < 100000; i++) {
      block.putDouble(i);
    }
    block.flip();
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    RowsFormat.send(block, 8 * 70001, sent);
    ByteBuffer got = ByteBuffer.wrap(sent.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
    assertEquals(8 * 70001, got.remaining());
    for (int i = 0; i < 70001; i++) {
      assertEquals(i, got.getDouble());
    }
  }

  @Test
  void namesAndValuesAreWrittenAsJson() throws Exception {
    byte[] head = RowsFormat.head(Arrays.asList(ColumnHeader.real("a\"\\\n\u0001ä", ColumnHeader.Role.WEIGHT),
        new ColumnHeader("b", ColumnHeader.Role.LABEL, ColumnHeader.Type.BINOMINAL,
            Arrays.asList("no", "\ud83d\ude00"))));
    assertArrayEquals(("{\"columns\":[{\"name\":\"a\\\"\\\\\\u000a\\u0001ä\",\"type\":\"real\",\"role\":\"weight\"},"
        + "{\"name\":\"b\",\"type\":\"binominal\",\"role\":\"label\",\"values\":[\"no\",\"\ud83d\ude00\"]}],"
        + "\"rows\":null,\"order\":\"rows\"}\n").getBytes(StandardCharsets.UTF_8), head);
    assertEquals("a\"\\\n\u0001ä", JsonText.text(JsonText.object(JsonText.list(JsonText.object(JsonText.parse(
        new String(head, StandardCharsets.UTF_8))).get("columns")).get(0)), "name", ""));
  }
}
