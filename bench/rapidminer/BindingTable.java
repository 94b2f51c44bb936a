// Times the speed table of work 000 through the JVM binding alone: tables that SpeedTable gives to RapidMiner, and the
// options of the extension's k-NN operator. RapidMiner is not needed.
//
//   java --add-opens=java.base/java.nio=ALL-UNNAMED -cp stope.jar BindingTable.java DEVICE TRAIN TEST NUMERIC NOMINAL K REPEATS
//
// It prints one JSON object: the milliseconds of learning and applying in each repetition, a hash of all predictions and
// confidences, and the report's words on the device. Equal hashes mean equal answers, to the last bit. Learning and
// applying both begin with rows in the JVM's memory, as RapidMiner has them, so building the tables counts.
import java.util.ArrayList;
import java.util.List;
import org.stope.Column;
import org.stope.Model;
import org.stope.Options;
import org.stope.Role;
import org.stope.Run;
import org.stope.Table;
import org.stope.TableBuilder;

public final class BindingTable {
  private static final int VALUES = 8;  // of a nominal attribute
  private static final int BLOCK = 33_792;  // rows given at once; as the extension does for a GPU

  // Steele, Lea and Flood's SplitMix64, as in SpeedTable.
  private static final class Random {
    private long state;

    Random(long seed) {
      state = seed;
    }

    long next() {
      long z = (state += 0x9E3779B97F4A7C15L);
      z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
      z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
      return z ^ (z >>> 31);
    }
  }

  private static double[] values(int rows, int numeric, int nominal, long seed) {
    int width = numeric + nominal + 1;
    double[] values = new double[rows * width];
    Random random = new Random(seed);
    for (int row = 0, at = 0; row < rows; row++) {
      for (int i = 0; i < numeric; i++) values[at++] = (double) ((random.next() >>> 40) * 0x1p-24f);
      for (int i = 0; i < nominal; i++) values[at++] = (int) ((random.next() >>> 33) % VALUES);
      values[at++] = (int) ((random.next() >>> 33) % 2);
    }
    return values;
  }

  private static List<Column> schema(int numeric, int nominal) {
    List<Column> schema = new ArrayList<>();
    String[] values = new String[VALUES];
    for (int i = 0; i < VALUES; i++) values[i] = "v" + i;
    for (int i = 0; i < numeric; i++) schema.add(Column.real("x" + i));
    for (int i = 0; i < nominal; i++) schema.add(Column.nominal("c" + i, values));
    schema.add(Column.nominal("class", "v0", "v1").as(Role.LABEL));
    return schema;
  }

  private static Table table(List<Column> schema, double[] values, int from, int rows) {
    int width = schema.size();
    try (TableBuilder builder = new TableBuilder(rows)) {
      for (Column column : schema) builder.column(column);
      for (int row = 0; row < rows; row += BLOCK) {
        int n = Math.min(BLOCK, rows - row);
        builder.append(java.util.Arrays.copyOfRange(values, (from + row) * width, (from + row + n) * width), n);
      }
      return builder.finish();
    }
  }

  public static void main(String[] arguments) {
    String device = arguments[0];
    int train = Integer.parseInt(arguments[1]), test = Integer.parseInt(arguments[2]);
    int numeric = Integer.parseInt(arguments[3]), nominal = Integer.parseInt(arguments[4]);
    int repeats = Integer.parseInt(arguments[6]);
    List<Column> schema = schema(numeric, nominal);
    double[] training = values(train, numeric, nominal, 1), queries = values(test, numeric, nominal, 2);
    Options options = Options.of("metric", nominal > 0 ? "mixed-euclidean" : "euclidean", "compat", "rapidminer",
        "n_neighbors", arguments[5], "weights", "distance");
    StringBuilder times = new StringBuilder();
    long hash = 0;
    String report = "";
    for (int i = 0; i < repeats; i++) {
      hash = 0xcbf29ce484222325L;
      try (Run run = new Run().device(device)) {
        long start = System.nanoTime(), learned;
        try (Table rows = table(schema, training, 0, train); Model model = Model.fit("classify", rows, options, run)) {
          learned = System.nanoTime();
          // Blocks as the extension makes them: one after another, each answered before the next is built.
          for (int from = 0; from < test; from += BLOCK) {
            try (Table block = table(schema, queries, from, Math.min(BLOCK, test - from));
                Table answer = model.apply(block, Options.of("proba", "true"), run)) {
              for (int c = 0; c < answer.columns(); c++) {
                for (double value : answer.column(c)) hash = (hash ^ Double.doubleToLongBits(value)) * 0x100000001b3L;
              }
            }
          }
        }
        times.append(i == 0 ? "" : ", ").append('[').append((learned - start) / 1e6).append(", ")
            .append((System.nanoTime() - learned) / 1e6).append(']');
        report = run.report();
      }
    }
    System.out.println("{\"device\": \"" + device + "\", \"train\": " + train + ", \"test\": " + test + ", \"numeric\": "
        + numeric + ", \"nominal\": " + nominal + ", \"milliseconds\": [" + times + "], \"answer\": \""
        + Long.toHexString(hash) + "\", \"report\": " + report + "}");
  }
}
