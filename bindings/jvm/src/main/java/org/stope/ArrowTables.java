package org.stope;

import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowArrayStream;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.CDataDictionaryProvider;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowReader;

/**
 * Tables from Arrow Java and to Arrow Java, through Arrow's C data interface: nothing is copied that can be shared. It
 * needs org.apache.arrow:arrow-c-data and arrow-vector on the class path, and is the only class that does.
 */
public final class ArrowTables {
  private ArrowTables() {}

  /**
   * Makes a table of a batch. The table shares the batch's buffers, which stay until the table and what was made of it are
   * closed. Nobody may change them meanwhile.
   *
   * @param root the batch; its own references stay the caller's
   * @param dictionaries of the batch's nominal columns; may be null
   * @param allocator the allocator of the batch
   * @param options of the job "arrow": "target", "id", "memory" and others; may be null
   * @param run may be null
   * @return the table
   * @throws StopeException UNSUPPORTED for a type of Arrow that stope does not take; INVALID_DATA; CANCELLED
   */
  public static Table of(
      VectorSchemaRoot root, DictionaryProvider dictionaries, BufferAllocator allocator, Options options, Run run) {
    Arguments.required(root, "root");
    Arguments.required(allocator, "allocator");
    try (Call call = Call.job(options, run);
        ArrowSchema schema = ArrowSchema.allocateNew(allocator);
        ArrowArray array = ArrowArray.allocateNew(allocator)) {
      Data.exportVectorSchemaRoot(allocator, root, dictionaries, array, schema);
      return new Table(
          Native.tableOfArrow(schema.memoryAddress(), array.memoryAddress(), call.options(), call.run()));
    }
  }

  /**
   * Makes a table of all batches that a reader gives.
   *
   * @param reader the reader, which is read to its end and closed
   * @param allocator the allocator of the reader
   * @param options of the job "arrow": "target", "id", "memory" and others; may be null
   * @param run may be null
   * @return the table
   * @throws StopeException UNSUPPORTED for a type of Arrow that stope does not take; INVALID_DATA; IO; CANCELLED
   */
  public static Table of(ArrowReader reader, BufferAllocator allocator, Options options, Run run) {
    Arguments.required(reader, "reader");
    Arguments.required(allocator, "allocator");
    try (Call call = Call.job(options, run);
        ArrowArrayStream stream = ArrowArrayStream.allocateNew(allocator)) {
      Data.exportArrayStream(allocator, reader, stream);
      return new Table(Native.tableOfArrowStream(stream.memoryAddress(), call.options(), call.run()));
    }
  }

  /**
   * Gives a table to Arrow Java. The batch shares the table's memory, which stays until the batch is closed, also if the
   * table is closed before. Missing values become nulls.
   *
   * @param table the table
   * @param dictionaries takes the values of the nominal columns
   * @param allocator the allocator of the batch
   * @return a batch of all rows
   * @throws StopeException INVALID_ARGUMENT if the table is closed; OUT_OF_MEMORY
   */
  public static VectorSchemaRoot toArrow(
      Table table, CDataDictionaryProvider dictionaries, BufferAllocator allocator) {
    Arguments.required(dictionaries, "dictionaries");
    Arguments.required(allocator, "allocator");
    try (Call call = Call.brief();
        ArrowSchema schema = ArrowSchema.allocateNew(allocator);
        ArrowArray array = ArrowArray.allocateNew(allocator)) {
      Native.tableToArrow(call.use(table, "table"), schema.memoryAddress(), array.memoryAddress());
      return Data.importVectorSchemaRoot(allocator, array, schema, dictionaries);
    }
  }
}
