// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.gui.MainFrame;
import com.rapidminer.gui.RapidMinerGUI;
import com.rapidminer.gui.actions.ImportProcessAction;
import com.rapidminer.gui.processeditor.NewOperatorGroupTree;
import com.rapidminer.operator.Operator;
import java.awt.Component;
import java.awt.Container;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.File;
import java.util.Collections;
import javax.imageio.ImageIO;
import javax.swing.JTree;
import javax.swing.SwingUtilities;

/**
 * Starts RapidMiner with its window, opens a process, and draws the window into files: Screenshots PROCESS FOLDER.
 * scripts/rapidminer_screenshots.sh calls it.
 */
public final class Screenshots {
  private static final int WIDTH = 1240;
  private static final int HEIGHT = 760;
  private static final int PATIENCE_MS = 60000;

  private Screenshots() {}

  public static void main(String[] arguments) throws Exception {
    RapidMinerGUI.main(new String[0]);
    MainFrame frame = waitForFrame();
    SwingUtilities.invokeAndWait(() -> frame.setSize(WIDTH, HEIGHT));
    SwingUtilities.invokeAndWait(() -> ImportProcessAction.open(new File(arguments[0])));
    Thread.sleep(5000);
    SwingUtilities.invokeAndWait(() -> {
      Operator knn = frame.getProcess().getOperator("k-NN (stope)");
      frame.selectOperators(Collections.singletonList(knn));
      search(frame, "stope");
      frame.TOGGLE_EXPERT_MODE_ACTION.setSelected(true);
      frame.TOGGLE_EXPERT_MODE_ACTION.actionToggled(null);
    });
    Thread.sleep(4000);
    draw(frame, new File(arguments[1], "rapidminer-operator.png"));
    SwingUtilities.invokeAndWait(() -> frame.runProcess());
    Thread.sleep(8000);
    draw(frame, new File(arguments[1], "rapidminer-result.png"));
    Runtime.getRuntime().halt(0);
  }

  private static MainFrame waitForFrame() throws InterruptedException {
    for (int waited = 0; waited < PATIENCE_MS; waited += 500) {
      MainFrame frame = RapidMinerGUI.getMainFrame();
      if (frame != null && frame.isShowing()) {
        return frame;
      }
      Thread.sleep(500);
    }
    throw new IllegalStateException("RapidMiner shows no window");
  }

  /** Searches for operators, and unfolds what is found. */
  private static void search(Container in, String text) {
    for (Component child : in.getComponents()) {
      if (child instanceof NewOperatorGroupTree) {
        ((NewOperatorGroupTree) child).valueChanged(text);
        JTree found = ((NewOperatorGroupTree) child).getTree();
        for (int row = 0; row < found.getRowCount(); row++) {
          found.expandRow(row);
        }
      }
      if (child instanceof Container) {
        search((Container) child, text);
      }
    }
  }

  private static void draw(MainFrame frame, File file) throws Exception {
    SwingUtilities.invokeAndWait(() -> {
      BufferedImage image = new BufferedImage(frame.getWidth(), frame.getHeight(), BufferedImage.TYPE_INT_RGB);
      Graphics2D graphics = image.createGraphics();
      frame.paint(graphics);
      graphics.dispose();
      try {
        ImageIO.write(image, "png", file);
      } catch (java.io.IOException error) {
        throw new IllegalStateException(error);
      }
    });
    System.out.println(file);
  }
}
