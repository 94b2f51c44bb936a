// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import org.stope.rapidminer.engine.EngineException;
import org.stope.rapidminer.engine.EngineSession;
import org.stope.rapidminer.engine.FittedModel;

/**
 * A model of the engine that RapidMiner keeps, and never closes. Bytes exist only while the model is being saved, or
 * has not been used since it was loaded: there is no second copy besides the engine's.
 */
final class HeldModel implements Serializable {
  private static final long serialVersionUID = 1L;

  private byte[] bytes;
  private transient FittedModel model;

  HeldModel(FittedModel model) {
    this.model = model;
  }

  /**
   * The engine's model; read from the bytes at the first call after the model was loaded. A model that was learned
   * elsewhere, in this process or on a server, moves to where the session computes.
   */
  synchronized FittedModel in(EngineSession session) throws EngineException {
    if (model == null) {
      model = session.load(bytes);
      bytes = null;
    } else if (!session.holds(model)) {
      model = session.load(model.bytes());  // somebody else may still apply the old one
    }
    return model;
  }

  /** Puts another model in place of this one, and frees this one. */
  synchronized void replace(FittedModel next) {
    FittedModel old = model;
    model = next;
    bytes = null;
    if (old != null) {
      old.close();
    }
  }

  synchronized byte[] toBytes() throws EngineException {
    return model != null ? model.bytes() : bytes;
  }

  synchronized void release() {
    if (model != null) {
      model.release();
    }
  }

  private synchronized void writeObject(ObjectOutputStream to) throws IOException {
    byte[] kept = bytes;
    try {
      bytes = toBytes();
      to.defaultWriteObject();
    } catch (EngineException error) {
      throw new IOException(error.getMessage(), error);
    } finally {
      bytes = kept;
    }
  }
}
