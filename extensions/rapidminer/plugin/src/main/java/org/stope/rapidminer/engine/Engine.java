// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

/**
 * Where jobs are computed. The operators know nothing else of stope: one implementation calls the library in this
 * process, another one a server. What passes through the interface is numbers, texts and bytes, so that it can be sent.
 */
public interface Engine {
  /** Begins a piece of work. Throws if the engine cannot be had, or cannot do what the settings ask for. */
  EngineSession open(Settings settings) throws EngineException;
}
