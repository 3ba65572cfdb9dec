import java.io.FileInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** One push with java.net.http. Usage: java Push.java CREDENTIALS PORT DEVICE; the provider token is in TOKEN. */
public class Push {
    public static void main(String[] arguments) throws Exception {
        // One client for all pushes: its connection stays open, as Apple asks.
        HttpClient client = HttpClient.newBuilder().sslContext(trust(arguments[0])).version(HttpClient.Version.HTTP_2).build();
        HttpRequest request =
            HttpRequest.newBuilder(URI.create("https://localhost:" + arguments[1] + "/3/device/" + arguments[2]))
                .header("authorization", System.getenv("TOKEN")) // "bearer …": what mock-apns token prints, or your own signer
                .header("apns-topic", "com.example.app")
                .header("apns-push-type", "alert")
                .POST(HttpRequest.BodyPublishers.ofString("{\"aps\":{\"alert\":\"hello\"}}"))
                .build();
        try {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            // {"reason":"…"}; 410 Unregistered: forget the device; 429 and 503: try again later.
            if (answer.statusCode() != 200) fail(answer.statusCode() + " " + answer.body());
            System.out.println("200 " + answer.headers().firstValue("apns-id").orElse("without apns-id"));
        } catch (IOException error) {
            fail("no answer: " + error);
        }
    }

    private static SSLContext trust(String credentials) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (FileInputStream file = new FileInputStream(credentials + "/ca.pem")) {
            store.setCertificateEntry("mock-apns", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    private static void fail(String text) {
        System.err.println(text);
        System.exit(1);
    }
}
