// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

import com.rapidminer.Process;
import com.rapidminer.operator.ports.InputPorts;
import com.rapidminer.operator.ports.OutputPorts;
import com.rapidminer.operator.ports.PortOwner;
import com.rapidminer.operator.ports.metadata.MDTransformer;
import com.rapidminer.parameter.ParameterHandler;
import com.rapidminer.parameter.ParameterType;
import com.rapidminer.parameter.UndefinedParameterError;
import java.util.List;
import java.util.logging.Logger;

/** A step of a process. */
public abstract class Operator implements ParameterHandler {
  public Operator(OperatorDescription description) {}

  public void doWork() throws OperatorException {
    throw new UnsupportedOperationException();
  }

  public final void checkForStop() throws ProcessStoppedException {
    throw new UnsupportedOperationException();
  }

  public Process getProcess() {
    throw new UnsupportedOperationException();
  }

  public Logger getLogger() {
    throw new UnsupportedOperationException();
  }

  public final InputPorts getInputPorts() {
    throw new UnsupportedOperationException();
  }

  public final OutputPorts getOutputPorts() {
    throw new UnsupportedOperationException();
  }

  public final MDTransformer getTransformer() {
    throw new UnsupportedOperationException();
  }

  public final PortOwner getPortOwner() {
    throw new UnsupportedOperationException();
  }

  public void addError(ProcessSetupError error) {
    throw new UnsupportedOperationException();
  }

  public List<ParameterType> getParameterTypes() {
    throw new UnsupportedOperationException();
  }

  public boolean isParameterSet(String key) {
    throw new UnsupportedOperationException();
  }

  public String getParameterAsString(String key) throws UndefinedParameterError {
    throw new UnsupportedOperationException();
  }

  public int getParameterAsInt(String key) throws UndefinedParameterError {
    throw new UnsupportedOperationException();
  }

  public double getParameterAsDouble(String key) throws UndefinedParameterError {
    throw new UnsupportedOperationException();
  }

  public boolean getParameterAsBoolean(String key) {
    throw new UnsupportedOperationException();
  }
}
