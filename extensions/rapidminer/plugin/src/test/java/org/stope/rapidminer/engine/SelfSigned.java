// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A certificate that signs itself, for a machine of another name than this one. */
final class SelfSigned {
  private static final char[] PASSWORD = "secret".toCharArray();

  private final KeyStore keys = KeyStore.getInstance("PKCS12");

  SelfSigned(Path folder) throws Exception {
    Path store = folder.resolve("keys");
    Process keytool = new ProcessBuilder(Paths.get(System.getProperty("java.home"), "bin", "keytool").toString(),
        "-genkeypair", "-alias", "a", "-keyalg", "EC", "-dname", "CN=gpu-box", "-validity", "2", "-storetype", "PKCS12",
        "-keystore", store.toString(), "-storepass", new String(PASSWORD)).redirectErrorStream(true).start();
    assertEquals(0, keytool.waitFor());
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD);
    }
  }

  String fingerprint() throws Exception {
    return Tls.fingerprintOf((X509Certificate) keys.getCertificate("a"));
  }

  /** A socket of TLS on this machine, at a port that is free. */
  ServerSocket socket() throws Exception {
    KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(factory.getKeyManagers(), null, null);
    return context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
  }
}
