import java.io.FileInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Java's java.net.http: one push many times over one connection, with h2load's flags and a CA; prints what nio-push
 * does. The first goes alone: until there is a connection this client opens one for each.
 */
public class Push {
    private static int requests = 1000, streams = 500;
    private static SSLContext context;

    public static void main(String[] arguments) throws Exception {
        HttpRequest request = parse(arguments);
        HttpClient client = HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_2).build();
        Semaphore free = new Semaphore(streams);
        Queue<String> others = new ConcurrentLinkedQueue<>();
        long begin = System.nanoTime();
        for (int index = 0; index < requests; index++) {
            free.acquire();
            CompletableFuture<?> answered =
                client.sendAsync(request, HttpResponse.BodyHandlers.discarding()).handle((response, error) -> {
                    if (error != null) others.add(error.toString());
                    else if (response.statusCode() != 200 || response.version() != HttpClient.Version.HTTP_2)
                        others.add(response.version() + " " + response.statusCode());
                    free.release();
                    return null;
                });
            if (index == 0) answered.join();
        }
        free.acquire(streams);
        double seconds = (System.nanoTime() - begin) / 1e9;
        if (!others.isEmpty()) end(others.size() + " of " + requests + " not answered with 200: " + others.peek());
        System.out.println(requests + " of " + requests + " answered with 200, " + requests / seconds + " a second");
        System.exit(0);
    }

    private static void end(String line) {
        System.err.println(line);
        System.exit(1);
    }

    private static HttpRequest parse(String[] arguments) throws IOException, GeneralSecurityException {
        int last = arguments.length - 1;
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(arguments[last]));
        for (int index = 0; index < last; index += 2) {
            String value = arguments[index + 1];
            switch (arguments[index]) {
                case "-n" -> requests = Integer.parseInt(value);
                case "-m" -> streams = Integer.parseInt(value);
                case "-d" -> request.POST(HttpRequest.BodyPublishers.ofByteArray(Files.readAllBytes(Path.of(value))));
                case "-H" -> request.header(value.split(": ", 2)[0], value.split(": ", 2)[1]);
                case "--cacert" -> context = trusting(value);
                default -> throw new IllegalArgumentException(arguments[index]);
            }
        }
        return request.build();
    }

    private static SSLContext trusting(String authority) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (FileInputStream file = new FileInputStream(authority)) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
