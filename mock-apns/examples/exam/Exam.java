import java.io.FileInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Java's own java.net.http in an exam: one push first, then one to each other device token, all at once. Usage: mock-apns exam -- java
 * Exam.java. Sends nothing again by itself: only what the client does is examined.
 */
public class Exam {
    public static void main(String[] arguments) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (FileInputStream file = new FileInputStream(System.getenv("EXAM_CA"))) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        Duration timeout = Duration.ofMillis((long) (Double.parseDouble(System.getenv("EXAM_SECONDS")) * 500));
        HttpClient client =
            HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_2).connectTimeout(timeout).build();
        String token = token();
        List<CompletableFuture<?>> sent = new ArrayList<>();
        for (String device : Files.readAllLines(Path.of(System.getenv("EXAM_TOKENS")))) {
            HttpRequest request =
                HttpRequest.newBuilder(URI.create(System.getenv("EXAM_URL") + "/3/device/" + device))
                    .timeout(timeout)
                    .header("authorization", token)
                    .header("apns-topic", System.getenv("EXAM_TOPIC"))
                    .header("apns-push-type", "alert")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"aps\":{\"alert\":\"hello\"}}"))
                    .build();
            sent.add(client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).exceptionally(error -> null));
            if (sent.size() == 1) sent.get(0).join();
        }
        for (CompletableFuture<?> future : sent) future.join();
        System.exit(0);
    }

    private static String token() throws Exception {
        String pem = Files.readString(Path.of(System.getenv("EXAM_KEY"))).replaceAll("-----[^-]+-----|\\s", "");
        String header = "{\"alg\":\"ES256\",\"kid\":\"" + System.getenv("EXAM_KEY_ID") + "\"}";
        String claims =
            "{\"iss\":\"" + System.getenv("EXAM_TEAM_ID") + "\",\"iat\":" + System.currentTimeMillis() / 1000 + "}";
        String text = part(header.getBytes(StandardCharsets.UTF_8)) + "." + part(claims.getBytes(StandardCharsets.UTF_8));
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(
            KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem))));
        signature.update(text.getBytes(StandardCharsets.UTF_8));
        return "bearer " + text + "." + part(signature.sign());
    }

    private static String part(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
