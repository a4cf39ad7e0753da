import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A caller in Java: {@code java Client PORT}. See test/fixtures/foreign.ts. The HTTP version is left at its default,
 * so each request on a new connection asks for an upgrade to HTTP/2.
 */
public final class Client {
  private static final int PIECES = 4;
  private static final long PAUSE_MS = 5;
  private static final long TIMEOUT_S = 20;

  /** Gives its bytes in pieces with pauses between them, and breaks off in the middle where it is told to. */
  private static final class Slow extends InputStream {
    private final InputStream bytes;
    private final int piece;
    private final int breaksAt;
    private int sent;

    Slow(byte[] body, boolean breaks) {
      bytes = new ByteArrayInputStream(body);
      piece = body.length / PIECES + 1;
      breaksAt = breaks ? body.length / 2 : Integer.MAX_VALUE;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      if (sent >= breaksAt) throw new IOException("dropped in the middle");
      try {
        Thread.sleep(PAUSE_MS);
      } catch (InterruptedException interrupted) {
        throw new IOException(interrupted);
      }
      int count = bytes.read(into, offset, Math.min(length, piece));
      sent += Math.max(count, 0);
      return count;
    }
  }

  private static BodyPublisher publisher(String way, byte[] body) {
    return switch (way) {
      case "chunked" -> BodyPublishers.ofInputStream(() -> new Slow(body, false));
      case "pieces", "cut" ->
          BodyPublishers.fromPublisher(
              BodyPublishers.ofInputStream(() -> new Slow(body, way.equals("cut"))), body.length);
      default -> BodyPublishers.ofByteArray(body);
    };
  }

  private static void send(HttpClient client, String port, String way, byte[] body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/predict"))
            .header("X-API-Key", System.getenv("ACUITY_API_KEY"))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(TIMEOUT_S))
            .expectContinue(way.equals("continued"))
            .POST(publisher(way, body))
            .build();
    CompletableFuture<HttpResponse<String>> answer = client.sendAsync(request, BodyHandlers.ofString());
    if (way.equals("left")) {
      TimeUnit.MILLISECONDS.sleep(1);
      answer.cancel(true);
      return;
    }
    try {
      HttpResponse<String> received = answer.get(TIMEOUT_S, TimeUnit.SECONDS);
      System.out.println(received.statusCode() + " " + received.body());
    } catch (ExecutionException dropped) {
      if (!way.equals("cut")) throw dropped;
    }
  }

  private static void run(String port, String[] words) throws Exception {
    List<byte[]> bodies = new ArrayList<>();
    for (String path : Arrays.copyOfRange(words, 3, words.length)) bodies.add(Files.readAllBytes(Path.of(path)));
    HttpClient client = HttpClient.newHttpClient();
    for (int time = 0; time < Integer.parseInt(words[2]); time++) {
      for (byte[] body : bodies) {
        if (words[0].equals("fresh")) client = HttpClient.newHttpClient();
        send(client, port, words[1], body);
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    try (Scanner lines = new Scanner(System.in)) {
      while (lines.hasNextLine()) {
        run(arguments[0], lines.nextLine().split(" "));
        System.out.println("end");
      }
    }
    System.exit(0); // its threads would wait for the pooled connections
  }
}
