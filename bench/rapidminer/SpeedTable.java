// Times one k-NN operator inside a real RapidMiner: it trains on a table in memory and applies the model to another one.
// bench/rapidminer.py compiles it and runs it, one process a case.
//
//   SpeedTable OPERATOR TRAIN_ROWS TEST_ROWS NUMERIC NOMINAL K REPEATS [KEY=VALUE parameters of the operator...]
//
// It prints one JSON object: the milliseconds of learning and applying in each repetition, and a hash of all predictions
// and confidences. Equal hashes mean equal answers, to the last bit.
import com.rapidminer.RapidMiner;
import com.rapidminer.example.Attribute;
import com.rapidminer.example.Attributes;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.example.table.AttributeFactory;
import com.rapidminer.example.table.DoubleArrayDataRow;
import com.rapidminer.example.table.MemoryExampleTable;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.learner.Learner;
import com.rapidminer.tools.Ontology;
import com.rapidminer.tools.OperatorService;
import java.util.ArrayList;
import java.util.List;

public final class SpeedTable {
  private static final int VALUES = 8;  // of a nominal attribute

  // Steele, Lea and Flood's SplitMix64: equal seeds give equal tables.
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

    // float32 values, as in bench/support/made_table.cpp.
    double uniform() {
      return (double) ((next() >>> 40) * 0x1p-24f);
    }

    int below(int n) {
      return (int) ((next() >>> 33) % n);
    }
  }

  private static ExampleSet table(int rows, int numeric, int nominal, long seed) {
    List<Attribute> attributes = new ArrayList<Attribute>();
    for (int i = 0; i < numeric; i++) attributes.add(AttributeFactory.createAttribute("x" + i, Ontology.REAL));
    for (int i = 0; i < nominal; i++) attributes.add(nominal("c" + i, VALUES));
    Attribute label = nominal("class", 2);
    attributes.add(label);
    MemoryExampleTable table = new MemoryExampleTable(attributes);
    Random random = new Random(seed);
    for (int row = 0; row < rows; row++) {
      double[] values = new double[attributes.size()];
      for (int i = 0; i < numeric; i++) values[i] = random.uniform();
      for (int i = 0; i < nominal; i++) values[numeric + i] = random.below(VALUES);
      values[numeric + nominal] = random.below(2);
      table.addDataRow(new DoubleArrayDataRow(values));
    }
    return table.createExampleSet(label);
  }

  private static Attribute nominal(String name, int values) {
    Attribute attribute = AttributeFactory.createAttribute(name, Ontology.POLYNOMINAL);
    for (int i = 0; i < values; i++) attribute.getMapping().mapString("v" + i);
    return attribute;
  }

  private static void removePrediction(ExampleSet set) {
    List<Attribute> made = new ArrayList<Attribute>();
    for (java.util.Iterator<com.rapidminer.example.AttributeRole> i = set.getAttributes().specialAttributes(); i.hasNext();) {
      com.rapidminer.example.AttributeRole role = i.next();
      String name = role.getSpecialName();
      if (name.equals(Attributes.PREDICTION_NAME) || name.startsWith(Attributes.CONFIDENCE_NAME)) made.add(role.getAttribute());
    }
    for (Attribute attribute : made) {
      set.getAttributes().remove(attribute);
      set.getExampleTable().removeAttribute(attribute);
    }
  }

  // FNV-1a over the bits of all predictions and confidences.
  private static long hash(ExampleSet set) {
    List<Attribute> made = new ArrayList<Attribute>();
    made.add(set.getAttributes().getPredictedLabel());
    for (String value : set.getAttributes().getPredictedLabel().getMapping().getValues()) {
      made.add(set.getAttributes().getSpecial(Attributes.CONFIDENCE_NAME + "_" + value));
    }
    long hash = 0xcbf29ce484222325L;
    for (Example example : set) {
      for (Attribute attribute : made) hash = (hash ^ Double.doubleToLongBits(example.getValue(attribute))) * 0x100000001b3L;
    }
    return hash;
  }

  public static void main(String[] arguments) throws Exception {
    RapidMiner.setExecutionMode(RapidMiner.ExecutionMode.COMMAND_LINE);
    RapidMiner.init();
    int train = Integer.parseInt(arguments[1]), test = Integer.parseInt(arguments[2]);
    int numeric = Integer.parseInt(arguments[3]), nominal = Integer.parseInt(arguments[4]);
    int repeats = Integer.parseInt(arguments[6]);
    ExampleSet training = table(train, numeric, nominal, 1), queries = table(test, numeric, nominal, 2);
    StringBuilder times = new StringBuilder();
    long hash = 0;
    for (int i = 0; i < repeats; i++) {
      Operator operator = OperatorService.createOperator(arguments[0]);
      operator.setParameter("k", arguments[5]);
      for (int p = 7; p < arguments.length; p++) {
        int equals = arguments[p].indexOf('=');
        operator.setParameter(arguments[p].substring(0, equals), arguments[p].substring(equals + 1));
      }
      removePrediction(queries);
      long start = System.nanoTime();
      Model model = ((Learner) operator).learn(training);
      long learned = System.nanoTime();
      ExampleSet answer = model.apply(queries);
      long applied = System.nanoTime();
      times.append(i == 0 ? "" : ", ").append('[').append((learned - start) / 1e6).append(", ").append((applied - learned) / 1e6).append(']');
      if (i == 0) hash = hash(answer);
    }
    System.out.println("{\"milliseconds\": [" + times + "], \"answer\": \"" + Long.toHexString(hash) + "\"}");
    System.exit(0);
  }
}
