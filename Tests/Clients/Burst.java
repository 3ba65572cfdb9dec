import java.io.FileInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Java's own java.net.http: one push, then COUNT less one, 500 at once. This client does not wait for a free stream: it fails what
 * is beyond the limit ("too many concurrent streams"), which is one until a provider token was found valid, then 1,000.
 */
public class Burst {
    public static void main(String[] arguments) throws Exception {
        String folder = arguments[0], port = arguments[1];
        int count = Integer.parseInt(arguments[2]);
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (FileInputStream file = new FileInputStream(folder + "/ca.pem")) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        HttpClient client = HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_2).build();
        Map<String, Integer> answers = new TreeMap<>();
        List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
        Semaphore streams = new Semaphore(500);
        for (int index = 0; index < count; index++) {
            streams.acquire();
            HttpRequest request =
                HttpRequest.newBuilder(URI.create("https://localhost:" + port + "/3/device/" + String.format("%064x", index)))
                    .header("authorization", System.getenv("TOKEN"))
                    .header("apns-topic", "com.example.app")
                    .header("apns-push-type", "alert")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"aps\":{\"alert\":\"hello\"}}"))
                    .build();
            sent.add(
                client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).whenComplete((response, error) -> streams.release()));
            if (index == 0) sent.get(0).join();
        }
        for (CompletableFuture<HttpResponse<String>> future : sent) {
            String answer;
            try {
                HttpResponse<String> response = future.join();
                answer = response.version() == HttpClient.Version.HTTP_2 ? "" + response.statusCode() : "not HTTP/2";
            } catch (Exception error) {
                answer = String.valueOf(error.getCause());
            }
            answers.merge(answer, 1, Integer::sum);
        }
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, Integer> entry : answers.entrySet()) {
            text.append(text.length() == 0 ? "" : ", ").append('"').append(entry.getKey().replace("\"", "'"));
            text.append("\": ").append(entry.getValue());
        }
        System.out.println("{\"version\": \"Java " + Runtime.version() + "\", \"answers\": {" + text + "}}");
        System.exit(0);
    }
}
