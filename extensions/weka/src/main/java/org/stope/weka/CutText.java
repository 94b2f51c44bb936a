// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.text.ParseException;
import java.text.SimpleDateFormat;
import java.util.Date;
import weka.core.Attribute;
import weka.core.Utils;

/** Cuts as a person reads them: six decimals, or all digits where six say too little; dates as dates. */
final class CutText {
  private static final int FEW_DIGITS = 6;
  private static final double SAME = 1e-4; // The share by which a text may miss its number.

  private CutText() {}

  static String of(Attribute attribute, double cut) {
    if (attribute.isDate()) {
      return ofDate(attribute, cut);
    }
    String few = Utils.doubleToString(cut, FEW_DIGITS);
    return Math.abs(Double.parseDouble(few) - cut) <= SAME * Math.abs(cut) ? few : Double.toString(cut);
  }

  /** The attribute's own format if it can say the cut: noon of a day is no day. */
  private static String ofDate(Attribute attribute, double cut) {
    String own = attribute.formatDate(cut);
    try {
      if (attribute.parseDate(own) == cut) {
        return own;
      }
    } catch (ParseException e) {
      // A format that cannot be read back says too little, too.
    }
    return new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS").format(new Date((long) cut));
  }
}
