// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;

/** What came is not HTTP, or not what a stope server sends. Its message is half a sentence: "its answer ...". */
final class HttpGarbage extends IOException {
  private static final long serialVersionUID = 1L;

  HttpGarbage(String message) {
    super(message);
  }
}
