// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Attributes;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.example.table.NominalMapping;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.stope.rapidminer.engine.ColumnHeader;

/** Numbers where the training column is nominal: codes, the value that no row has, or missing. */
final class KnnColumnsTest {
  private static final int BINOMINAL = 6;

  @Test
  void aNumberThatIsNoCodeDiffersFromAllValuesOrIsMissing() {
    KnnColumns mixed = new KnnColumns(set("no", "yes"), "mixed-euclidean");
    assertEquals(ColumnHeader.Type.NOMINAL, mixed.headers().get(0).type());
    assertEquals(3, mixed.headers().get(0).values().size());
    assertEquals(1.0, mixed.code(0, 1.0));
    assertEquals(0.0, mixed.code(0, -0.0));
    for (double other : new double[] {0.5, 2, -1, 1e300}) {
      assertEquals(2.0, mixed.code(0, other));
    }
    assertEquals(Double.NaN, mixed.code(0, Double.NaN));

    KnnColumns counted = new KnnColumns(set("no", "yes"), "simple-matching");
    assertEquals(ColumnHeader.Type.BINOMINAL, counted.headers().get(0).type());
    assertEquals(Arrays.asList("v0", "v1"), counted.headers().get(0).values());
    assertEquals(1.0, counted.code(0, 1.0));
    assertEquals(Double.NaN, counted.code(0, 2.0));
  }

  @Test
  void theEngineGetsNeitherNamesNorValues() {
    KnnColumns columns = new KnnColumns(set("\u0000", "\ud800"), "nominal-distance");
    assertEquals("sweet", columns.name(0));
    assertEquals("c0", columns.headers().get(0).name());
    assertEquals(Arrays.asList("v0", "v1", "v2"), columns.headers().get(0).values());
  }

  @Test
  void numbersOfAnUpdateThatAreNoCodesAreValuesOfTheirOwn() {
    KnnColumns before = new KnnColumns(set("no", "yes"), "nominal-distance");
    KnnColumns grown = before.with(0, 7, 1, Double.NaN, -3, 7);
    assertEquals(5, grown.headers().get(0).values().size());
    assertEquals(3.0, grown.code(0, 7));
    assertEquals(4.0, grown.code(0, -3));
    assertEquals(2.0, grown.code(0, 9));
    assertEquals(1.0, grown.code(0, 1));
    assertEquals(3, before.headers().get(0).values().size());
    assertEquals(2.0, before.code(0, 7));
  }

  /** An example set of one binominal attribute. */
  private static ExampleSet set(final String... values) {
    final NominalMapping mapping = fake(NominalMapping.class, "getValues", Arrays.asList(values));
    final Attribute attribute = fake(Attribute.class, "getName", "sweet", "isNominal", true, "getValueType", BINOMINAL,
        "getMapping", mapping);
    final Attributes attributes = fake(Attributes.class, "iterator", Collections.singletonList(attribute));
    return fake(ExampleSet.class, "getAttributes", attributes);
  }

  private static <T> T fake(Class<T> type, final Object... answers) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, new InvocationHandler() {
      @Override
      public Object invoke(Object self, Method method, Object[] arguments) {
        for (int i = 0; i < answers.length; i += 2) {
          if (answers[i].equals(method.getName())) {
            return method.getName().equals("iterator") ? ((List<?>) answers[i + 1]).iterator() : answers[i + 1];
          }
        }
        throw new UnsupportedOperationException(method.getName());
      }
    }));
  }
}
