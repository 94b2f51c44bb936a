package org.stope;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.util.Arrays;
import org.apache.arrow.c.CDataDictionaryProvider;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.junit.jupiter.api.Test;

/** Tables go to Arrow Java and back. Closing the allocator throws if a buffer was not given back. */
class ArrowTablesTest {
  private static VectorSchemaRoot batch(BufferAllocator allocator) {
    Float8Vector x = new Float8Vector("x", allocator);
    x.allocateNew(3);
    x.set(0, 1.5);
    x.setNull(1);
    x.set(2, -2);
    x.setValueCount(3);
    VarCharVector c = new VarCharVector("c", allocator);
    c.allocateNew();
    c.setSafe(0, "red".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    c.setSafe(1, "blue".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    c.setSafe(2, "red".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    c.setValueCount(3);
    return new VectorSchemaRoot(Arrays.<FieldVector>asList(x, c));
  }

  private static void check(Table table) {
    assertArrayEquals(new double[] {1.5, Double.NaN, -2}, table.column("x"));
    assertEquals("red", table.text(0, 1));
    assertEquals("blue", table.text(1, 1));
    assertEquals("red", table.text(2, 1));
    assertEquals(Role.LABEL, table.schema().get(1).role());
  }

  @Test
  void batchesComeIn() {
    try (BufferAllocator allocator = new RootAllocator()) {
      Table table;
      try (VectorSchemaRoot root = batch(allocator)) {
        table = ArrowTables.of(root, null, allocator, Options.of("target", "c"), null);
      }
      check(table); // The batch is closed, and the table has its memory.
      table.close();
    }
  }

  /** Arrow's release is the one function of Java that the engine calls; here the garbage collector's finding calls it. */
  @Test
  void forgottenTablesGiveTheBuffersBack() throws Exception {
    try (BufferAllocator allocator = new RootAllocator()) {
      Float8Vector x = new Float8Vector("x", allocator);
      x.allocateNew(1000);
      for (int i = 0; i < 1000; ++i) {
        x.set(i, i); // Without nulls, so that the table shares the buffer.
      }
      x.setValueCount(1000);
      try (VectorSchemaRoot root = new VectorSchemaRoot(Arrays.<FieldVector>asList(x))) {
        assertEquals(999, ArrowTables.of(root, null, allocator, null, null).column("x")[999]);
      }
      assertTrue(allocator.getAllocatedMemory() > 0);
      for (int i = 0; i < 200 && allocator.getAllocatedMemory() > 0; ++i) {
        System.gc();
        Thread.sleep(10);
        Cleaner.clean();
      }
      assertEquals(0, allocator.getAllocatedMemory());
    }
  }

  @Test
  void streamsComeIn() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (BufferAllocator allocator = new RootAllocator()) {
      try (VectorSchemaRoot root = batch(allocator);
          ArrowStreamWriter writer = new ArrowStreamWriter(root, null, bytes)) {
        writer.start();
        writer.writeBatch();
        writer.writeBatch();
        writer.end();
      }
      try (Table table =
          ArrowTables.of(
              new ArrowStreamReader(new ByteArrayInputStream(bytes.toByteArray()), allocator),
              allocator, Options.of("target", "c"), null)) {
        assertEquals(6, table.rows());
        assertEquals(-2, table.column(0)[5]);
      }
    }
  }

  @Test
  void tablesGoOut() {
    try (BufferAllocator allocator = new RootAllocator();
        CDataDictionaryProvider dictionaries = new CDataDictionaryProvider()) {
      Table table =
          Table.ofSchema(
              Arrays.asList(Column.real("x"), Column.nominal("c", "red", "blue")),
              new double[] {1.5, Double.NaN, -2}, new double[] {0, 1, Double.NaN});
      try (VectorSchemaRoot root = ArrowTables.toArrow(table, dictionaries, allocator)) {
        table.close(); // The batch shares its memory.
        assertEquals(3, root.getRowCount());
        Float8Vector x = (Float8Vector) root.getVector("x");
        assertEquals(1.5, x.get(0));
        assertTrue(x.isNull(1));
        FieldVector codes = root.getVector("c");
        assertTrue(codes.isNull(2));
        long id = codes.getField().getDictionary().getId();
        try (FieldVector names =
            (FieldVector) DictionaryEncoder.decode(codes, dictionaries.lookup(id), allocator)) {
          assertEquals("blue", names.getObject(1).toString());
        }
        try (Table again = ArrowTables.of(root, dictionaries, allocator, null, null)) {
          assertArrayEquals(new double[] {1.5, Double.NaN, -2}, again.column("x"));
          assertEquals("blue", again.text(1, 1));
        }
      }
    }
  }

  @Test
  void refusalsGiveTheBuffersBack() {
    try (BufferAllocator allocator = new RootAllocator();
        VectorSchemaRoot root = batch(allocator)) {
      assertEquals(
          StopeException.Code.INVALID_DATA,
          TableTest.codeOf(() -> ArrowTables.of(root, null, allocator, Options.of("target", "none"), null)));
    }
  }

  /** Without Arrow on the class path everything else works. */
  @Test
  void arrowIsOptional() throws Exception {
    String classes = Stope.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    String tests = ArrowTablesTest.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    String output =
        new ChildJvm(classes + java.io.File.pathSeparator + tests, "-Djava.io.tmpdir=" + Files.createTempDirectory("s"))
            .run(LoaderTest.Ask.class);
    assertTrue(output.contains("sum 3.0"), output);
  }
}
