package org.stope;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The jar's libraries in a fresh folder that only this user can read. Its name has stope's version, the process with the
 * time of its start, and random characters. The process holds a lock in it while it lives; a later process deletes folders whose lock is free.
 */
final class Unpacked {
  private static final String RESOURCES = "native/linux-x86_64/";
  private static final String CHECKSUMS = "checksums.txt"; // lines of "SHA-256  NAME"
  private static final String LIBRARY = "libstope_jni.so";
  private static final String LOCK = "lock";
  private static final String PREFIX = "stope-";
  // A folder is younger than this while its process unpacks and has not locked it yet.
  private static final long SWEEP_MILLIS = 3_600_000;

  // What is loaded and still has files. Nobody reads it: it keeps the lock's channel from the garbage collector, so that
  // the lock is held to the end of the process.
  private static Unpacked kept;

  private final Path folder;
  private FileChannel lock;
  private final List<Path> files = new ArrayList<>();

  private Unpacked(Path folder) {
    this.folder = folder;
  }

  static boolean inJar() {
    return Unpacked.class.getResource(RESOURCES + CHECKSUMS) != null;
  }

  /** Where to unpack, in the order in which the places are tried. */
  static List<Path> bases() {
    List<Path> bases = new ArrayList<>();
    String own = System.getProperty("org.stope.folder");
    if (own != null) {
      bases.add(Paths.get(own));
    }
    bases.add(Paths.get(System.getProperty("java.io.tmpdir")));
    bases.add(Paths.get(System.getProperty("user.home"), ".cache", "stope"));
    return bases;
  }

  /** Unpacks into a new folder under {@code base}, after sweeping it. */
  static Unpacked into(Path base) throws IOException {
    FileAttribute<?> mine = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    if (!Files.isDirectory(base)) {
      Files.createDirectories(base, mine);
    }
    sweep(base, System.currentTimeMillis() - SWEEP_MILLIS);
    String name = PREFIX + version() + "-" + process() + "-";
    Unpacked unpacked = new Unpacked(Files.createTempDirectory(base, name, mine).toAbsolutePath());
    try {
      unpacked.lock();
      for (Map.Entry<String, String> file : checksums().entrySet()) {
        unpacked.write(file.getKey(), file.getValue());
      }
      return unpacked;
    } catch (IOException | RuntimeException e) {
      unpacked.delete();
      throw e;
    }
  }

  Path library() {
    return folder.resolve(LIBRARY);
  }

  /** The library is mapped now. Files that nobody opens later go at once, the others when the process ends. */
  void loaded() throws IOException {
    Files.delete(library());
    files.remove(library());
    if (files.size() == 1) { // The lock: nothing else is opened later.
      delete();
      return;
    }
    kept = this;
    folder.toFile().deleteOnExit(); // The last that is named is deleted first.
    for (Path file : files) {
      file.toFile().deleteOnExit();
    }
  }

  /** Deletes what was unpacked, and lets go of the lock. */
  void delete() {
    try {
      if (lock != null) {
        lock.close();
      }
    } catch (IOException e) {
      // The file is deleted next.
    }
    for (Path file : files) {
      file.toFile().delete();
    }
    folder.toFile().delete();
  }

  private void lock() throws IOException {
    Path file = folder.resolve(LOCK);
    lock = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    files.add(file);
    if (lock.tryLock() == null) {
      throw new IOException("another process has locked " + file);
    }
  }

  private void write(String name, String sha256) throws IOException {
    Path file = folder.resolve(name);
    try (InputStream from = Unpacked.class.getResourceAsStream(RESOURCES + name)) {
      if (from == null) {
        throw new IOException("the jar lacks " + name);
      }
      files.add(file);
      Files.copy(from, file);
    }
    String written = sha256(file);
    if (!written.equals(sha256)) {
      throw new IOException(name + " has checksum " + written + " after it was unpacked, not " + sha256);
    }
  }

  private static Map<String, String> checksums() throws IOException {
    Map<String, String> sums = new LinkedHashMap<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                Unpacked.class.getResourceAsStream(RESOURCES + CHECKSUMS), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.trim().split("\\s+");
        if (words.length != 2 || words[1].contains("/")) {
          throw new IOException("the jar's list of checksums has the line '" + line + "'");
        }
        sums.put(words[1], words[0]);
      }
    }
    return sums;
  }

  static String sha256(Path file) throws IOException {
    try (InputStream from = Files.newInputStream(file)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] block = new byte[1 << 16];
      for (int n = from.read(block); n > 0; n = from.read(block)) {
        digest.update(block, 0, n);
      }
      StringBuilder hex = new StringBuilder();
      for (byte b : digest.digest()) {
        hex.append(String.format("%02x", b & 0xff));
      }
      return hex.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IOException(e); // Every Java has it.
    }
  }

  private static String version() {
    String version = Unpacked.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
  }

  /**
   * Names this process: "PID.START", where START is in clock ticks since the machine was booted. The PID alone is not
   * enough: in a container that is started again and again, each JVM is number 1 of its own.
   */
  static String process() {
    try {
      // The second field is a name in parentheses, which may have blanks and parentheses itself. START is field 22.
      String stat = new String(Files.readAllBytes(Paths.get("/proc/self/stat")), StandardCharsets.ISO_8859_1);
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      return stat.substring(0, stat.indexOf(' ')) + "." + fields[22 - 3];
    } catch (IOException | RuntimeException e) {
      return "0.0";
    }
  }

  /**
   * Deletes this user's folders that are older than {@code before} and whose process is gone. It leaves the folders of
   * this process alone: another class loader may have loaded them, and opening a lock here would give it up there.
   */
  static void sweep(Path base, long before) {
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(base, PREFIX + "*-*-*")) {
      for (Path folder : folders) {
        boolean own = folder.getFileName().toString().contains("-" + process() + "-");
        if (!own && Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS) && isMine(folder)
            && Files.getLastModifiedTime(folder).toMillis() < before && isFree(folder.resolve(LOCK))) {
          File[] files = folder.toFile().listFiles();
          for (File file : files == null ? new File[0] : files) {
            file.delete();
          }
          folder.toFile().delete();
        }
      }
    } catch (IOException | RuntimeException e) {
      // What cannot be swept stays.
    }
  }

  private static boolean isMine(Path folder) throws IOException {
    return Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(Paths.get("/proc/self")));
  }

  private static boolean isFree(Path lock) {
    if (!Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS)) {
      return !Files.exists(lock, LinkOption.NOFOLLOW_LINKS); // Its process ended before it made one.
    }
    try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
        FileLock taken = channel.tryLock()) {
      return taken != null;
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }
}
