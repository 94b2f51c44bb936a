// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A program for SandboxTest: uses the server that its argument names, as an operator does, and prints what it gets. */
public final class SandboxRun {
  private SandboxRun() {}

  public static void main(String[] arguments) throws Exception {
    List<ColumnHeader> columns = Collections.singletonList(ColumnHeader.real("a", ColumnHeader.Role.REGULAR));
    Map<String, String> none = Collections.emptyMap();
    Settings settings = new Settings(Settings.Device.AUTO, "", arguments[0]);
    ByteBuffer block = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
    try (Worker worker = new Worker(Engines.of(settings).open(settings), (progress) -> { })) {
      FittedModel model = worker.run(() -> {
        RowSink rows = worker.session().rows(columns, 2);
        rows.append(block, 2);
        return worker.session().fit("regress", rows, none);
      });
      ResultTable table = worker.run(() -> model.apply(worker.session(), block, 2, none));
      worker.session().progress();
      System.out.println("prediction " + table.column(0)[0] + ", " + model.bytes().length + " bytes");
      model.close();
      worker.session().cancel();
    }
    String local = "nothing";
    try {
      Settings here = new Settings(Settings.Device.AUTO, "", "");
      Engines.of(here).open(here).close();
    } catch (EngineException refused) {
      local = refused.kind().toString();
    }
    System.out.println("in this process: " + local);
  }
}
