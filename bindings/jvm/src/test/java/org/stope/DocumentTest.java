package org.stope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first program of docs/JVM.md compiles and does what the page says. */
class DocumentTest {
  @Test
  void firstProgram(@TempDir Path folder) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    assumeTrue(compiler != null, "this Java has no compiler");
    String page =
        new String(Files.readAllBytes(Paths.get("..", "..", "docs", "JVM.md")), StandardCharsets.UTF_8);
    Matcher program = Pattern.compile("```java\n([^`]*class First [^`]*)```").matcher(page);
    assertEquals(true, program.find(), "docs/JVM.md has no class First");
    String text =
        program.group(1)
            .replace("\"train.csv\"", '"' + folder.resolve("train.csv").toString() + '"')
            .replace("\"test.csv\"", '"' + folder.resolve("test.csv").toString() + '"')
            .replace("nNeighbors(5)", "nNeighbors(1)");
    Files.write(folder.resolve("First.java"), text.getBytes(StandardCharsets.UTF_8));
    Files.write(folder.resolve("train.csv"), "x,class\n1,low\n2,low\n8,high\n".getBytes(StandardCharsets.UTF_8));
    Files.write(folder.resolve("test.csv"), "x\n7\n1\n".getBytes(StandardCharsets.UTF_8));
    String path = System.getProperty("java.class.path");
    assertEquals(
        0, compiler.run(null, null, null, "-cp", path, "-d", folder.toString(), folder.resolve("First.java").toString()));
    ChildJvm child = new ChildJvm(path + File.pathSeparator + folder);
    String[] lines = child.run("First").trim().split("\n");
    assertEquals("high", lines[lines.length - 2]);
    assertEquals("low", lines[lines.length - 1]);
  }
}
