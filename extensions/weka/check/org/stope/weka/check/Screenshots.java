// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka.check;

import java.awt.Component;
import java.awt.Container;
import java.awt.Graphics2D;
import java.awt.Window;
import java.awt.image.BufferedImage;
import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import javax.imageio.ImageIO;
import javax.swing.JButton;
import javax.swing.JFrame;
import javax.swing.JList;
import javax.swing.SwingUtilities;
import weka.classifiers.Classifier;
import weka.core.Instances;
import weka.core.OptionHandler;
import weka.core.Utils;
import weka.core.WekaPackageManager;
import weka.core.converters.ConverterUtils.DataSource;
import weka.gui.GenericObjectEditor;
import weka.gui.ResultHistoryPanel;
import weka.gui.explorer.ClassifierPanel;
import weka.gui.explorer.Explorer;
import weka.gui.treevisualizer.TreeVisualizer;

/**
 * Opens WEKA's Explorer with the installed package, classifies a table, and draws the windows into files: Screenshots
 * TABLE FOLDER. scripts/weka_screenshots.sh calls it.
 */
public final class Screenshots {
  private static final int WIDTH = 1100;
  private static final int HEIGHT = 720;
  private static final int PATIENCE_MS = 120000;

  private Screenshots() {}

  public static void main(String[] arguments) throws Exception {
    WekaPackageManager.loadPackages(false);
    GenericObjectEditor.registerEditors();
    Instances table = DataSource.read(arguments[0]);
    table.setClassIndex(table.numAttributes() - 1);
    File folder = new File(arguments[1]);
    Explorer[] explorer = new Explorer[1];
    JFrame[] frame = new JFrame[1];
    SwingUtilities.invokeAndWait(() -> {
      explorer[0] = new Explorer();
      frame[0] = new JFrame("Weka Explorer");
      frame[0].getContentPane().add(explorer[0]);
      frame[0].setSize(WIDTH, HEIGHT);
      frame[0].setVisible(true);
      explorer[0].getPreprocessPanel().setInstances(table);
      explorer[0].getTabbedPane().setSelectedIndex(1);
    });
    ClassifierPanel panel = find(explorer[0], ClassifierPanel.class);
    run(panel, 1, "weka.classifiers.lazy.IBk", "-K", "5", "-I");
    run(panel, 2, "weka.classifiers.lazy.StopeIBk", "-K", "5", "-I");
    draw(frame[0], new File(folder, "weka-classify.png"));
    run(panel, 3, "weka.classifiers.trees.StopeTree", "-depth", "3", "-missing", "value");
    Classifier tree = editor(panel);
    SwingUtilities.invokeAndWait(() -> visualize(panel, tree, table));
    Thread.sleep(3000);
    for (Window window : Window.getWindows()) {
      if (window.isShowing() && window != frame[0] && window instanceof JFrame
          && ((JFrame) window).getTitle().contains("Tree")) {
        SwingUtilities.invokeAndWait(() -> window.setSize(WIDTH, HEIGHT / 2 + 100));
        Thread.sleep(1000);
        TreeVisualizer view = find(((JFrame) window).getContentPane(), TreeVisualizer.class);
        SwingUtilities.invokeAndWait(view::fitToScreen);
        Thread.sleep(2000);
        draw((JFrame) window, new File(folder, "weka-tree.png"));
      }
    }
    Runtime.getRuntime().halt(0);
  }

  /** Chooses a classifier, presses Start, and waits for as many results as there must be then. */
  private static void run(ClassifierPanel panel, int results, String name, String... options) throws Exception {
    Classifier classifier = (Classifier) Utils.forName(Classifier.class, name, new String[0]);
    ((OptionHandler) classifier).setOptions(options);
    SwingUtilities.invokeAndWait(() -> {
      try {
        ((GenericObjectEditor) field(panel, "m_ClassifierEditor")).setValue(classifier);
        ((JButton) field(panel, "m_StartBut")).doClick();
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    });
    JList<?> list = ((ResultHistoryPanel) field(panel, "m_History")).getList();
    for (int waited = 0; waited < PATIENCE_MS; waited += 500) {
      Thread.sleep(500);
      if (list.getModel().getSize() >= results && field(panel, "m_RunThread") == null) {
        Thread.sleep(1500);
        return;
      }
    }
    throw new IllegalStateException(name + " has given no result");
  }

  private static Classifier editor(ClassifierPanel panel) throws Exception {
    return (Classifier) ((GenericObjectEditor) field(panel, "m_ClassifierEditor")).getValue();
  }

  /** What the entry "Visualize tree" of a result's menu does. */
  private static void visualize(ClassifierPanel panel, Classifier tree, Instances table) {
    try {
      tree.buildClassifier(table);
      Method method = ClassifierPanel.class.getDeclaredMethod("visualizeTree", String.class, String.class);
      method.setAccessible(true);
      method.invoke(panel, ((weka.core.Drawable) tree).graph(), "trees.StopeTree");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Object field(ClassifierPanel panel, String name) throws ReflectiveOperationException {
    Field field = ClassifierPanel.class.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(panel);
  }

  private static <T> T find(Container in, Class<T> type) {
    for (Component child : in.getComponents()) {
      if (type.isInstance(child)) {
        return type.cast(child);
      }
      T below = child instanceof Container ? find((Container) child, type) : null;
      if (below != null) {
        return below;
      }
    }
    return null;
  }

  private static void draw(JFrame frame, File file) throws Exception {
    SwingUtilities.invokeAndWait(() -> {
      BufferedImage image = new BufferedImage(frame.getWidth(), frame.getHeight(), BufferedImage.TYPE_INT_RGB);
      Graphics2D graphics = image.createGraphics();
      frame.paint(graphics);
      graphics.dispose();
      try {
        ImageIO.write(image, "png", file);
      } catch (java.io.IOException e) {
        throw new IllegalStateException(e);
      }
    });
    System.out.println(file);
  }
}
