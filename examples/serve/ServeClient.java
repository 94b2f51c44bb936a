import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Uses a stope server from Java 8 or later, with nothing but the JDK: keeps a table, fits a model and predicts. Numbers
 * travel as doubles with all their bits.
 *
 * <p>{@code java ServeClient.java} runs it from Java 11 on. STOPE_SERVER is the address, such as https://gpu-box:7400
 * or http://127.0.0.1:7400; STOPE_TOKEN is a token. A certificate that is the server's own is trusted through a store:
 * {@code keytool -importcert -file gpu-box.pem -keystore trust -alias gpu-box}, then
 * {@code java -Djavax.net.ssl.trustStore=trust -Djavax.net.ssl.trustStorePassword=PASSWORD ServeClient.java}, with the
 * password that keytool asked for: without it Java sees an empty store.
 */
public final class ServeClient {
  private static final String ROWS = "application/vnd.stope.rows";

  private final String server;
  private final String token;

  public ServeClient(String server, String token) {
    this.server = server;
    this.token = token;
  }

  /** Keeps a table, whose columns are objects of JSON as below, and returns its name. */
  public String keep(String columns, double[][] rows) throws IOException {
    return nameOf(ask("POST", "/v1/tables", columns, rows));
  }

  /** Fits a model to a table and returns the model's name. Options are a query: n_neighbors=5&metric=gower. */
  public String fit(String kind, String table, String options) throws IOException {
    return nameOf(ask("POST", "/v1/models/fit?kind=" + kind + "&table=" + table + "&" + options, "", null));
  }

  /** What the model says of rows: columns by name, nominal ones as texts. */
  public Map<String, List<Object>> predict(String model, String columns, double[][] rows) throws IOException {
    HttpURLConnection answer = ask("POST", "/v1/models/" + model + "/predict", columns, rows);
    try (InputStream in = answer.getInputStream()) {
      return read(in);
    }
  }

  /** Deletes "/v1/tables/NAME" or "/v1/models/NAME". What nobody uses for a day goes by itself. */
  public void delete(String path) throws IOException {
    ask("DELETE", path, "", null).disconnect();
  }

  private HttpURLConnection ask(String method, String path, String columns, double[][] rows) throws IOException {
    HttpURLConnection request = (HttpURLConnection) new URL(server + path).openConnection();
    request.setRequestMethod(method);
    request.setInstanceFollowRedirects(false);  // the token is for this server alone
    request.setConnectTimeout(10000);
    request.setRequestProperty("Authorization", "Bearer " + token);
    request.setRequestProperty("Accept", ROWS);
    request.setRequestProperty("Content-Type", ROWS);
    if (rows != null) {
      request.setDoOutput(true);
      request.setChunkedStreamingMode(1 << 16);
      try (OutputStream to = request.getOutputStream()) {
        String head = "{\"columns\":[" + columns + "],\"rows\":null,\"order\":\"rows\"}\n";
        to.write(head.getBytes(StandardCharsets.UTF_8));
        for (double[] row : rows) {
          ByteBuffer bytes = ByteBuffer.allocate(8 * row.length).order(ByteOrder.LITTLE_ENDIAN);
          bytes.asDoubleBuffer().put(row);
          to.write(bytes.array());
        }
      }
    }
    if (request.getResponseCode() >= 300) {
      throw new IOException("the server answers with status " + request.getResponseCode() + ": " + refusal(request));
    }
    return request;
  }

  /** The problem that the server tells, as JSON; its member "detail" is a sentence. Java hides that of a 401 here. */
  private static String refusal(HttpURLConnection answer) throws IOException {
    if (answer.getResponseCode() == 401) {
      return "the token is wrong or missing";
    }
    InputStream in = answer.getErrorStream();
    StringBuilder text = new StringBuilder();
    for (int b = in == null ? -1 : in.read(); b >= 0; b = in.read()) {
      text.append((char) b);
    }
    return text.toString();
  }

  private static String nameOf(HttpURLConnection answer) {
    String place = answer.getHeaderField("Location");
    return place.substring(place.lastIndexOf('/') + 1);
  }

  /** Rows in blocks: a count, then each column's doubles. A count of 0 ends them, so that a cut answer is seen. */
  private static Map<String, List<Object>> read(InputStream from) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(from));
    List<String> names = new ArrayList<>();
    List<List<String>> values = new ArrayList<>();
    columns(line(in), names, values);
    Map<String, List<Object>> table = new LinkedHashMap<>();
    for (String name : names) {
      table.put(name, new ArrayList<>());
    }
    for (long n = Long.reverseBytes(in.readLong()); n != 0; n = Long.reverseBytes(in.readLong())) {
      for (int c = 0; c < names.size(); c++) {
        for (long row = 0; row < n; row++) {
          double number = Double.longBitsToDouble(Long.reverseBytes(in.readLong()));
          List<String> texts = values.get(c);
          Object text = texts == null || Double.isNaN(number) ? null : texts.get((int) number);
          table.get(names.get(c)).add(texts == null ? (Object) number : text);
        }
      }
    }
    return table;
  }

  private static String line(InputStream in) throws IOException {
    java.io.ByteArrayOutputStream line = new java.io.ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("the answer has no first line");
      }
      line.write(b);
    }
    return new String(line.toByteArray(), StandardCharsets.UTF_8);
  }

  /** Names, and values of nominal columns. A program with a library for JSON would use that. */
  private static void columns(String line, List<String> names, List<List<String>> values) {
    String text = "\"((?:[^\"\\\\]|\\\\.)*)\"";
    Matcher column = Pattern.compile("\\{[^{}]*?\"name\":\\s*" + text + "(?:[^{}\"]|" + text + ")*\\}").matcher(line);
    while (column.find()) {
      names.add(column.group(1).replaceAll("\\\\(.)", "$1"));
      Matcher list = Pattern.compile("\"values\":\\s*\\[((?:[^\\]\"]|" + text + ")*)\\]").matcher(column.group());
      List<String> found = list.find() ? new ArrayList<>() : null;
      Matcher value = Pattern.compile(text).matcher(found == null ? "" : list.group(1));
      while (value.find()) {
        found.add(value.group(1).replaceAll("\\\\(.)", "$1"));
      }
      values.add(found);
    }
  }

  /** The same flowers as in the other examples. */
  public static void main(String[] arguments) throws IOException {
    String address = System.getenv().getOrDefault("STOPE_SERVER", "http://127.0.0.1:7400");
    ServeClient server = new ServeClient(address, System.getenv().getOrDefault("STOPE_TOKEN", ""));
    String features = "{\"name\":\"sepal\",\"type\":\"real\"},{\"name\":\"petal\",\"type\":\"real\"}";
    String species = "{\"name\":\"species\",\"type\":\"nominal\",\"role\":\"label\","
        + "\"values\":[\"setosa\",\"versicolor\",\"virginica\"]}";

    double[][] train = {{5.1, 1.4, 0}, {4.9, 1.5, 0}, {6.4, 4.5, 1}, {6.3, 6.0, 2}};
    String table = server.keep(features + "," + species, train);
    String model = server.fit("classify", table, "n_neighbors=1");
    Map<String, List<Object>> answer = server.predict(model, features, new double[][] {{6.0, 4.4}, {5.0, 1.4}});
    System.out.println(String.join(",", answer.keySet()));
    for (int row = 0; row < 2; row++) {
      List<String> fields = new ArrayList<>();
      for (List<Object> column : answer.values()) {
        fields.add(String.valueOf(column.get(row)));
      }
      System.out.println(String.join(",", fields));
    }
    for (String made : Arrays.asList("/v1/models/" + model, "/v1/tables/" + table)) {
      server.delete(made);
    }
  }
}
