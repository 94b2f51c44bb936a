package org.stope;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Collection;

/**
 * Text on its way to the engine and back. The engine reads UTF-8 that a NUL ends. JNI's own strings are another encoding,
 * so that bytes cross the border instead.
 */
final class Text {
  private Text() {}

  /** Returns UTF-8. Refuses null, a NUL, and half of a surrogate pair, which UTF-8 cannot have. */
  static byte[] utf8(String text, String parameter) {
    Arguments.required(text, parameter);
    if (text.indexOf('\0') >= 0) {
      throw Arguments.wrong(parameter, "the text '" + parameter + "' has a NUL character");
    }
    try {
      ByteBuffer bytes =
          StandardCharsets.UTF_8
              .newEncoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .onUnmappableCharacter(CodingErrorAction.REPORT)
              .encode(CharBuffer.wrap(text));
      byte[] exact = new byte[bytes.remaining()];
      bytes.get(exact);
      return exact;
    } catch (CharacterCodingException e) {
      throw Arguments.wrong(parameter, "the text '" + parameter + "' has half of a surrogate pair, which is no text");
    }
  }

  static byte[][] utf8(Collection<String> texts, String parameter) {
    Arguments.requiredAll(parameter, texts);
    byte[][] all = new byte[texts.size()][];
    int i = 0;
    for (String text : texts) {
      all[i++] = utf8(text, parameter);
    }
    return all;
  }

  /** Spells a number so that it reads back the same; whole numbers have no point. */
  static String number(double value) {
    long whole = (long) value;
    boolean plain = whole == value && Math.abs(value) < 1e15 && (whole != 0 || 1 / value > 0); // -0.0 keeps its sign.
    return plain ? Long.toString(whole) : Double.toString(value);
  }

  /** Decodes UTF-8; what is none becomes U+FFFD. Null becomes "". */
  static String string(byte[] utf8) {
    return utf8 == null ? "" : new String(utf8, StandardCharsets.UTF_8);
  }

  /**
   * Returns the bytes of a path as the operating system has them. A path's URI keeps them in every locale, where its text
   * may have lost some.
   */
  static byte[] path(Path path, String parameter) {
    if (Arguments.required(path, parameter).getFileSystem() != FileSystems.getDefault()) {
      throw Arguments.wrong(
          parameter, path + " is on " + path.getFileSystem() + ", and stope opens only files of the operating system");
    }
    URI uri = path.toUri();
    String raw = uri.getRawPath();
    byte[] bytes = new byte[raw.length()];
    int n = 0;
    for (int i = 0; i < raw.length(); ++i) {
      char c = raw.charAt(i);
      if (c == '%') {
        bytes[n++] = (byte) Integer.parseInt(raw.substring(i + 1, i + 3), 16);
        i += 2;
      } else {
        bytes[n++] = (byte) c;
      }
    }
    return java.util.Arrays.copyOf(bytes, n);
  }
}
