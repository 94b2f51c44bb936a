// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

/** Is asked every tenth of a second, on the operator's own thread, whether to go on. */
public interface Watch {
  /** Throws to stop the job; shows the progress otherwise. */
  void look(Progress progress) throws Exception;
}
