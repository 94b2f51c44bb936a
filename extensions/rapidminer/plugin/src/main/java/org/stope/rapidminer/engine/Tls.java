// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * TLS. A certificate is trusted if this Java trusts it and it is for the server's name. Where the user knows the
 * fingerprint of the server's certificate, that one is trusted and no other; such certificates are mostly self-signed.
 */
final class Tls {
  private Tls() {}

  /** The certificate that a server showed is not trusted; its fingerprint lets a user decide. */
  static final class Untrusted extends SSLException {
    private static final long serialVersionUID = 1L;
    private final String shown;

    Untrusted(String shown, Throwable cause) {
      super("the certificate is not trusted", cause);
      this.shown = shown;
    }

    String shown() {
      return shown;
    }
  }

  static SSLSocket over(Socket plain, ServerAddress server, String fingerprint) throws IOException {
    Trust trust = new Trust(fingerprint);
    SSLSocket socket;
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {trust}, null);
      socket = (SSLSocket) context.getSocketFactory().createSocket(plain, server.hostName(), server.port(), true);
    } catch (GeneralSecurityException error) {
      throw new IOException("this Java has no TLS: " + error.getMessage(), error);
    }
    if (fingerprint.isEmpty()) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      socket.setSSLParameters(parameters);
    }
    try {
      socket.startHandshake();
    } catch (SSLException error) {
      for (Throwable cause = error; cause != null; cause = cause.getCause()) {
        if (cause instanceof CertificateException) {
          throw new Untrusted(trust.shown, error);
        }
      }
      throw error;
    }
    return socket;
  }

  /** SHA-256 of a certificate in hexadecimal digits. */
  static String fingerprintOf(X509Certificate certificate) throws CertificateException {
    try {
      StringBuilder digits = new StringBuilder();
      for (byte b : MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded())) {
        digits.append(String.format("%02x", b));
      }
      return digits.toString();
    } catch (GeneralSecurityException error) {
      throw new CertificateException(error);
    }
  }

  /** It is no X509ExtendedTrustManager: Java then adds its own checks of names and algorithms. */
  private static final class Trust implements X509TrustManager {
    private final String wanted;
    private final X509TrustManager java;
    private String shown = "";

    Trust(String wanted) throws IOException {
      this.wanted = wanted;
      try {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init((KeyStore) null);
        java = (X509TrustManager) factory.getTrustManagers()[0];
      } catch (GeneralSecurityException error) {
        throw new IOException("this Java's certificates cannot be read: " + error.getMessage(), error);
      }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
      shown = fingerprintOf(chain[0]);
      if (wanted.isEmpty()) {
        java.checkServerTrusted(chain, type);
      } else if (!wanted.equals(shown)) {
        throw new CertificateException("another certificate");
      }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
      java.checkClientTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return java.getAcceptedIssuers();
    }
  }
}
