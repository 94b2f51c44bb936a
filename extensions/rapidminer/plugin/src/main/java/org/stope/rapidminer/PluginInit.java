// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

/**
 * The hooks that RapidMiner looks for by name. None of them may throw, for that would unregister the extension; none
 * loads the native library, which the first job does.
 */
public final class PluginInit {
  private PluginInit() {}

  public static void initPlugin() {}

  public static void initGui(com.rapidminer.gui.MainFrame frame) {}

  public static void initFinalChecks() {}

  public static void initPluginManager() {}

  public static Boolean showAboutBox() {
    return Boolean.TRUE;
  }

  /** RapidMiner 9: the operators' folders stand beside RapidMiner's own, not under "Extensions". */
  public static Boolean useExtensionTreeRoot() {
    return Boolean.FALSE;
  }
}
