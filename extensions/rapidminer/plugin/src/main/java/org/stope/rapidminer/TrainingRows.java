// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.stope.rapidminer.engine.BlockSource;
import org.stope.rapidminer.engine.EngineException;

/**
 * The training rows in the bytes of a k-NN model, features first and the label behind them. The format is that of
 * docs/formats/models.md; the engine has checked the bytes, or has just written them.
 */
final class TrainingRows implements BlockSource {
  private static final int VERSION = 1;
  private static final int HEADER_BYTES = 24;
  private static final int ROLE_REGULAR = 0;
  private static final int ROLE_LABEL = 1;

  private enum Storage { FLOAT64, FLOAT32, CODES }

  private static final class Column {
    Storage storage;
    int at;
    int role;
  }

  private final ByteBuffer bytes;
  private final List<Column> columns = new ArrayList<Column>();
  private int rows;
  private int next;

  static TrainingRows of(byte[] model) throws EngineException {
    ByteBuffer bytes = ByteBuffer.wrap(model).order(ByteOrder.LITTLE_ENDIAN);
    if (model.length < HEADER_BYTES || bytes.getInt(8) != VERSION) {
      throw new EngineException(EngineException.Kind.INTERNAL, "the model is of another version than this extension", null);
    }
    TrainingRows found = new TrainingRows(bytes);
    if (!found.seek()) {
      throw new EngineException(EngineException.Kind.INTERNAL, "the model has no training rows", null);
    }
    return found;
  }

  private TrainingRows(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns.size();
  }

  @Override
  public int next(DoubleBuffer to, int most) {
    int taken = 0;
    while (taken < most && next < rows) {
      for (Column column : columns) {
        to.put(value(column, next));
      }
      next++;
      taken++;
    }
    return taken;
  }

  private double value(Column column, int row) {
    switch (column.storage) {
      case FLOAT64:
        return bytes.getDouble(column.at + 8 * row);
      case FLOAT32:
        return bytes.getFloat(column.at + 4 * row);
      default:
        int code = bytes.getInt(column.at + 4 * row);
        return code < 0 ? Double.NaN : code;
    }
  }

  private boolean seek() {
    bytes.position(HEADER_BYTES);
    text();
    for (long options = bytes.getLong(); options > 0; options--) {
      text();
      text();
    }
    for (long tables = bytes.getLong(); tables > 0; tables--) {
      boolean wanted = text().equals("train");
      int n = (int) bytes.getLong();
      List<Column> found = table(n);
      if (wanted) {
        rows = n;
        keep(found);
        return true;
      }
    }
    return false;
  }

  private void keep(List<Column> found) {
    for (int role : new int[] {ROLE_REGULAR, ROLE_LABEL}) {
      for (Column column : found) {
        if (column.role == role) {
          columns.add(column);
        }
      }
    }
  }

  private List<Column> table(int n) {
    List<Column> found = new ArrayList<Column>();
    for (long left = bytes.getLong(); left > 0; left--) {
      Column column = new Column();
      text();
      bytes.get();  // the type: the header has it, too
      column.role = bytes.get();
      column.storage = Storage.values()[bytes.get()];
      for (long values = bytes.getLong(); values > 0; values--) {
        text();
      }
      column.at = (bytes.position() + 7) / 8 * 8;
      bytes.position(column.at + n * (column.storage == Storage.FLOAT64 ? 8 : 4));
      found.add(column);
    }
    return found;
  }

  private String text() {
    byte[] text = new byte[bytes.getInt()];
    bytes.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }
}
