package org.stope;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Calls the native functions with arguments that are wrong in every way a program can make them: handles that were freed,
 * are of another kind or none, arrays that are null or too short, texts that are none, sizes out of range. Addresses of
 * Arrow structures are left out: a wrong address is wrong for every C library.
 */
final class BadCalls {
  private final Random random;
  private final long[] handles;
  private final byte[][] texts;
  final Map<String, Integer> outcomes = new TreeMap<>();
  int refused;

  BadCalls(long seed, Path folder) {
    random = new Random(seed);
    long freed = Native.runNew();
    Native.free(Native.RUN, freed);
    // Objects that live, for calls that are wrong in one argument only. They are freed by the calls, too.
    long table = Native.tableOfColumns(new byte[][] {{'a'}, {'b'}}, new double[][] {{1, 2, 3}, {4, 5, 6}}, 3, 0);
    long model = Native.fit(new byte[] {'p', 'c', 'a'}, table, 0, 0);
    long knn = Native.fit("neighbors".getBytes(StandardCharsets.UTF_8), table, 0, 0);
    long lists = Native.radiusNeighbors(knn, table, 10, 0, 0);
    long builder = Native.builderNew(0, 0);
    handles =
        new long[] {
          0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0x7f0000001000L, freed, freed + 8, table, model, knn, lists, builder,
          Native.runNew(), Native.optionsNew()
        };
    texts =
        new byte[][] {
          null, {}, {0}, {'a'}, {(byte) 0xff, (byte) 0xc0}, {(byte) 0xed, (byte) 0xa0, (byte) 0x80}, new byte[70000],
          text("stats"), text("pca"), text("neighbors"), text("n_neighbors"), text("threads"), text("real"),
          text("nominal"), text("text"), text("-3"), text("components"), text(folder.resolve("x.csv").toString()),
          text(folder.resolve("none").resolve("y").toString())
        };
    Arrays.fill(texts[6], (byte) 'z');
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Makes n calls. Throws whatever is no StopeException. */
  void run(int n) throws Throwable {
    List<Method> natives = new ArrayList<>();
    for (Method method : Native.class.getDeclaredMethods()) {
      if (Modifier.isNative(method.getModifiers()) && !method.getName().toLowerCase().contains("arrow")) {
        method.setAccessible(true);
        natives.add(method);
      }
    }
    natives.sort((a, b) -> a.getName().compareTo(b.getName()));
    for (int i = 0; i < n; ++i) {
      Method method = natives.get(i % natives.size());
      // Most calls leave the objects alive: freeing all of them would leave only one kind of mistake.
      if (method.getName().equals("free") && random.nextInt(10) != 0) {
        continue;
      }
      Object[] arguments = new Object[method.getParameterCount()];
      for (int k = 0; k < arguments.length; ++k) {
        arguments[k] = argument(method.getParameterTypes()[k]);
      }
      try {
        method.invoke(null, arguments);
      } catch (InvocationTargetException e) {
        if (!(e.getCause() instanceof StopeException)) {
          throw e.getCause();
        }
        StopeException.Code code = ((StopeException) e.getCause()).code();
        if (code == StopeException.Code.INTERNAL) {
          throw e.getCause();
        }
        ++refused;
        outcomes.merge(method.getName() + " " + code, 1, Integer::sum);
      }
    }
  }

  private Object argument(Class<?> type) {
    if (type == long.class) {
      return random.nextInt(8) == 0 ? random.nextLong() : handles[random.nextInt(handles.length)];
    }
    if (type == int.class) {
      int[] sizes = {0, 1, 2, 3, 4, -1, 1000, Integer.MAX_VALUE, Integer.MIN_VALUE, random.nextInt()};
      return sizes[random.nextInt(sizes.length)];
    }
    if (type == double.class) {
      double[] values = {0, -1, Double.NaN, Double.POSITIVE_INFINITY, 1e300, 2};
      return values[random.nextInt(values.length)];
    }
    if (type == boolean.class) {
      return random.nextBoolean();
    }
    if (random.nextInt(6) == 0) {
      return null;
    }
    int n = random.nextInt(8);
    if (type == byte[].class) {
      return texts[random.nextInt(texts.length)];
    }
    if (type == byte[][].class) {
      byte[][] some = new byte[n][];
      for (int i = 0; i < n; ++i) {
        some[i] = texts[random.nextInt(texts.length)];
      }
      return some;
    }
    if (type == double[].class) {
      return numbers(n);
    }
    if (type == double[][].class) {
      double[][] some = new double[n][];
      for (int i = 0; i < n; ++i) {
        some[i] = random.nextInt(9) == 0 ? null : numbers(3);
      }
      return some;
    }
    if (type == long[].class) {
      return new long[random.nextBoolean() ? 3 * n : n];
    }
    if (type == ByteBuffer.class) {
      ByteBuffer direct = ByteBuffer.allocateDirect(16 * n).order(ByteOrder.nativeOrder());
      return random.nextBoolean() ? direct : random.nextBoolean() ? direct.asReadOnlyBuffer() : ByteBuffer.allocate(64);
    }
    throw new AssertionError("no bad values of type " + type);
  }

  private double[] numbers(int n) {
    double[] some = new double[n];
    for (int i = 0; i < n; ++i) {
      some[i] = random.nextInt(4) == 0 ? Double.NaN : random.nextInt(5) - 1;
    }
    return some;
  }
}
