// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.operator.Operator;
import com.rapidminer.operator.UserError;
import com.rapidminer.parameter.ParameterType;
import com.rapidminer.parameter.ParameterTypeCategory;
import com.rapidminer.parameter.ParameterTypeString;
import com.rapidminer.parameter.UndefinedParameterError;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.stope.rapidminer.engine.Settings;

/** The parameters that every operator has: where to compute, and with how much memory. */
final class EngineParameters {
  static final String DEVICE = "device";
  static final String MEMORY_LIMIT = "memory_limit";
  static final String SERVER = "server";

  private static final String[] DEVICES = {"auto", "cpu", "gpu"};

  private EngineParameters() {}

  static List<ParameterType> types() {
    List<ParameterType> types = new ArrayList<ParameterType>();
    types.add(new ParameterTypeCategory(DEVICE, "Where to compute. The results are the same everywhere. 'auto' uses a "
        + "GPU where there is one and it is faster; 'gpu' is an error where there is none.", DEVICES, 0, true));
    types.add(optional(MEMORY_LIMIT, "The most memory that a job may take in addition to RapidMiner's own, for "
        + "instance 2GB or 512MiB. Empty: 80 % of the memory that is free."));
    types.add(optional(SERVER, "Empty: compute in this process. Otherwise HOST:PORT of a machine where stope-serve "
        + "runs. The token for it stands in the file .stope/tokens in your home, never in a process."));
    return types;
  }

  private static ParameterType optional(String key, String help) {
    ParameterType type = new ParameterTypeString(key, help, true);
    type.setExpert(true);
    return type;
  }

  static Settings of(Operator operator) throws UndefinedParameterError {
    Settings.Device device = Settings.Device.values()[operator.getParameterAsInt(DEVICE)];
    return new Settings(device, text(operator, MEMORY_LIMIT), text(operator, SERVER));
  }

  /** Whether it is one of the parameters of this class. */
  static boolean has(String key) {
    return key.equals(DEVICE) || key.equals(MEMORY_LIMIT) || key.equals(SERVER);
  }

  /** The settings with one of the parameters changed. */
  static Settings with(Settings settings, String key, String value) throws UserError {
    switch (key) {
      case DEVICE:
        int device = Arrays.asList(DEVICES).indexOf(value.trim().toLowerCase(Locale.ROOT));
        if (device < 0) {
          throw StopeError.user(null, "unsuitable", "The application parameter 'device' is '" + value
              + "'; it can be auto, cpu or gpu.");
        }
        return new Settings(Settings.Device.values()[device], settings.memoryLimit(), settings.server());
      case MEMORY_LIMIT:
        return new Settings(settings.device(), value, settings.server());
      default:
        return new Settings(settings.device(), settings.memoryLimit(), value);
    }
  }

  /** The value of an optional text; empty where it is not set. */
  static String text(Operator operator, String key) throws UndefinedParameterError {
    return operator.isParameterSet(key) ? operator.getParameterAsString(key) : "";
  }
}
