// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The golden data sets: files that name every type and mapping, and the runs that were made of them. */
final class Goldens {
  private final Path folder;

  Goldens(Path folder) {
    this.folder = folder;
  }

  List<Map<String, Object>> runs() throws IOException {
    return Json.objects(manifest().get("runs"));
  }

  List<Map<String, Object>> expectedErrors() throws IOException {
    return Json.objects(manifest().get("expected_errors"));
  }

  private Map<String, Object> manifest() throws IOException {
    return Json.object(read(folder.resolve("MANIFEST.json")));
  }

  private static String read(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }

  /** "train" or "test" of a data set. */
  Sheet sheet(String dataset, String part) throws IOException {
    Map<String, Object> schema = Json.object(read(folder.resolve(dataset).resolve("schema.json")));
    Object columns = schema.get(part + "_columns");
    Sheet sheet = new Sheet();
    for (Map<String, Object> column : Json.objects(columns != null ? columns : schema.get("columns"))) {
      @SuppressWarnings("unchecked")
      List<String> mapping = (List<String>) column.get("values");
      boolean nominal = Boolean.TRUE.equals(column.get("nominal"));
      sheet.column((String) column.get("name"), (String) column.get("type"),
          nominal ? (mapping == null ? new ArrayList<>() : mapping) : null);
      if ("label".equals(column.get("role"))) {
        sheet.label = (String) column.get("name");
      }
    }
    List<List<String>> records = records(read(folder.resolve(dataset).resolve(part + ".csv")));
    List<String> header = records.get(0);
    for (List<String> record : records.subList(1, records.size())) {
      double[] row = new double[sheet.names.size()];
      for (int c = 0; c < row.length; c++) {
        String field = record.get(header.indexOf(sheet.names.get(c)));
        row[c] = number(field, sheet.values.get(c));
      }
      sheet.rows.add(row);
    }
    return sheet;
  }

  private static double number(String field, List<String> mapping) {
    if (field.isEmpty()) {
      return Double.NaN;
    }
    if (mapping == null) {
      return Double.parseDouble(field);
    }
    if (mapping.indexOf(field) < 0) {
      throw new IllegalStateException("'" + field + "' is not in the schema");
    }
    return mapping.indexOf(field);
  }

  /** What RapidMiner predicted: "k,weighted,row" to prediction and confidences. */
  Map<String, List<String>> predictions(String file) throws IOException {
    Map<String, List<String>> found = new LinkedHashMap<>();
    List<List<String>> records = records(read(folder.resolve(file)));
    for (List<String> record : records.subList(1, records.size())) {
      found.put(record.get(0) + "," + record.get(1) + "," + record.get(2), record.subList(3, record.size()));
    }
    return found;
  }

  private static List<List<String>> records(String text) {
    List<List<String>> records = new ArrayList<>();
    List<String> record = new ArrayList<>();
    StringBuilder field = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quoted) {
        if (c != '"') {
          field.append(c);
        } else if (i + 1 < text.length() && text.charAt(i + 1) == '"') {
          field.append(text.charAt(++i));
        } else {
          quoted = false;
        }
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',' || c == '\n') {
        record.add(field.toString());
        field.setLength(0);
        if (c == '\n') {
          records.add(record);
          record = new ArrayList<>();
        }
      } else {
        field.append(c);
      }
    }
    return records;
  }
}
