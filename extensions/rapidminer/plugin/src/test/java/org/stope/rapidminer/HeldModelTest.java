// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.stope.rapidminer.engine.EngineException;
import org.stope.rapidminer.engine.FittedModel;

/** A model that cannot be saved says why, in the engine's words alone. */
final class HeldModelTest {
  @Test
  void theReasonIsThatOfTheEngine() {
    EngineException reason =
        new EngineException(EngineException.Kind.UNSUITABLE, "The model is larger than 2 GB.", null);
    FittedModel model = (FittedModel) Proxy.newProxyInstance(FittedModel.class.getClassLoader(),
        new Class<?>[] {FittedModel.class}, (self, method, arguments) -> {
          throw reason;
        });
    IOException error = assertThrows(IOException.class,
        () -> new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(new HeldModel(model)));
    assertEquals("The model is larger than 2 GB.", error.getMessage());
  }
}
