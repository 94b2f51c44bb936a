// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.Process;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.IOContainer;
import com.rapidminer.operator.IOObject;
import java.util.LinkedHashMap;
import java.util.Map;

/** Processes as RapidMiner's files have them, run in this RapidMiner. */
final class Processes {
  private Processes() {}

  /** The server on which the extension's operators compute; empty: in this process. */
  static String server() {
    return System.getProperty("stope.check.server", "");
  }

  static Map<String, String> parameters(String... pairs) {
    Map<String, String> all = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      all.put(pairs[i], pairs[i + 1]);
    }
    return all;
  }

  /** An element of a process. {@code inner} is the content of the element, or empty. */
  static String operator(String key, String name, Map<String, String> parameters, String inner) {
    StringBuilder xml = new StringBuilder();
    xml.append("<operator activated=\"true\" class=\"").append(key).append("\" expanded=\"true\" name=\"").append(name);
    xml.append("\">");
    Map<String, String> all = new LinkedHashMap<>(parameters);
    if (key.startsWith("stope:") && !server().isEmpty()) {
      all.putIfAbsent("server", server());
    }
    for (Map.Entry<String, String> parameter : all.entrySet()) {
      xml.append("<parameter key=\"").append(parameter.getKey()).append("\" value=\"");
      xml.append(parameter.getValue().replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;"));
      xml.append("\"/>");
    }
    return xml.append(inner).append("</operator>").toString();
  }

  /** "a.out -> b.in"; without a name the port is one of the process. */
  static String connect(String from, String to) {
    String[] source = from.split("\\.", 2);
    String[] sink = to.split("\\.", 2);
    return "<connect " + (source.length == 2 ? "from_op=\"" + source[0] + "\" from_port=\"" + source[1] + "\""
        : "from_port=\"" + from + "\"") + (sink.length == 2 ? " to_op=\"" + sink[0] + "\" to_port=\"" + sink[1] + "\""
        : " to_port=\"" + to + "\"") + "/>";
  }

  static String process(String... elements) {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?><process version=\"5.3.015\"><operator activated=\"true\" "
        + "class=\"process\" expanded=\"true\" name=\"Process\"><process expanded=\"true\">" + String.join("", elements)
        + "</process></operator></process>";
  }

  static IOContainer run(String xml, IOObject... inputs) throws Exception {
    return new Process(xml).run(new IOContainer(inputs));
  }

  /** Learns from one set and labels the other: the results are the labelled set and the model. */
  static ExampleSet learnAndApply(String learner, Map<String, String> parameters, ExampleSet train, ExampleSet test)
      throws Exception {
    String xml = process(operator(learner, "learner", parameters, ""),
        operator("apply_model", "apply", parameters(), ""), connect("input 1", "learner.training set"),
        connect("input 2", "apply.unlabelled data"), connect("learner.model", "apply.model"),
        connect("apply.labelled data", "result 1"));
    return run(xml, train, test).get(ExampleSet.class);
  }
}
