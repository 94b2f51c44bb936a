// Times Rseslib's local discretisation (MDLocalDiscretizationProvider), which grows the tree that stope grows by
// discernibility, and keeps its cuts. Prints one JSON object; the leaves are the cuts and one more (tree.py says what
// for). Needs Rseslib and Weka on the class path:
//
//   java -cp CLASSPATH RseslibTree.java X.npy Y.npy     float32 rows, int32 classes
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import rseslib.processing.discretization.MDLocalDiscretizationProvider;
import rseslib.structure.table.ArrayListDoubleDataTable;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.Instances;

public class RseslibTree {
    static final class Array {
        final int rows, columns;
        final ByteBuffer data;

        Array(String file) throws IOException {
            ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(Path.of(file))).order(ByteOrder.LITTLE_ENDIAN);
            int header = all.getShort(8);
            byte[] text = new byte[header];
            all.get(10, text);
            Matcher shape = Pattern.compile("'fortran_order': False, 'shape': \\((\\d+), (\\d+)\\)").matcher(new String(text));
            if (!shape.find()) throw new IOException(file + ": rows and columns expected");
            rows = Integer.parseInt(shape.group(1));
            columns = Integer.parseInt(shape.group(2));
            data = all.slice(10 + header, 4 * rows * columns).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    static Instances table(Array x, Array y) {
        int classes = 0;
        for (int r = 0; r < y.rows; ++r) classes = Math.max(classes, y.data.getInt(4 * r) + 1);
        ArrayList<String> labels = new ArrayList<>();
        for (int k = 0; k < classes; ++k) labels.add("c" + k);
        ArrayList<Attribute> attributes = new ArrayList<>();
        for (int c = 0; c < x.columns; ++c) attributes.add(new Attribute("x" + c));
        attributes.add(new Attribute("y", labels));
        Instances rows = new Instances("t", attributes, x.rows);
        rows.setClassIndex(x.columns);
        for (int r = 0; r < x.rows; ++r) {
            double[] values = new double[x.columns + 1];
            for (int c = 0; c < x.columns; ++c) values[c] = x.data.getFloat(4 * (r * x.columns + c));
            values[x.columns] = y.data.getInt(4 * r);
            rows.add(new DenseInstance(1.0, values));
        }
        return rows;
    }

    static int cutsOf(MDLocalDiscretizationProvider provider) throws ReflectiveOperationException {
        var field = MDLocalDiscretizationProvider.class.getDeclaredField("cuts");
        field.setAccessible(true);
        int n = 0;
        for (Object of : ((Map<?, ?>) field.get(provider)).values()) n += ((ArrayList<?>) of).size();
        return n;
    }

    public static void main(String[] words) throws Exception {
        var table = new ArrayListDoubleDataTable(table(new Array(words[0]), new Array(words[1])));
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        StringBuilder wall = new StringBuilder(), processor = new StringBuilder();
        int cuts = 0;
        for (int i = 0; i < 3; ++i) {  // the first while the machine is still compiling
            var provider = new MDLocalDiscretizationProvider();
            long start = System.nanoTime(), used = system.getProcessCpuTime();
            provider.generateTransformer(table);
            wall.append(i > 0 ? ", " : "").append((System.nanoTime() - start) / 1e6);
            processor.append(i > 0 ? ", " : "").append((system.getProcessCpuTime() - used) / 1e6);
            cuts = cutsOf(provider);
        }
        System.out.println("{\"wall_ms\": [" + wall + "], \"processor_ms\": [" + processor + "], \"leaves\": " + (cuts + 1) + "}");
    }
}
