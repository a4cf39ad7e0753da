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

/**
 * A caller in Java: {@code java Client PORT WAY FILE...}. See test/flow/foreignClients.test.ts. The HTTP version is left
 * at its default, so the first request on a connection asks for an upgrade to HTTP/2.
 */
public final class Client {
  private static String way;

  /** Gives its bytes in four pieces with pauses between them, and breaks off in the middle where it is cut. */
  private static final class Slow extends ByteArrayInputStream {
    Slow(byte[] body) {
      super(body);
    }

    @Override
    public int read(byte[] into, int offset, int length) {
      if (way.equals("cut") && pos >= count / 2) throw new IllegalStateException("dropped in the middle");
      try {
        Thread.sleep(5);
      } catch (InterruptedException interrupted) {
        throw new IllegalStateException(interrupted);
      }
      return super.read(into, offset, Math.min(length, count / 4 + 1));
    }
  }

  private static BodyPublisher publisher(byte[] body) {
    BodyPublisher slow = BodyPublishers.ofInputStream(() -> new Slow(body));
    return switch (way) {
      case "plain" -> BodyPublishers.ofByteArray(body);
      case "chunked" -> slow;
      default -> BodyPublishers.fromPublisher(slow, body.length);
    };
  }

  public static void main(String[] arguments) throws Exception {
    way = arguments[1];
    HttpClient client = HttpClient.newHttpClient();
    for (int at = 2; at < 2 * arguments.length - 2; at++) {
      Path path = Path.of(arguments[2 + (at - 2) % (arguments.length - 2)]);
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + arguments[0] + "/predict"))
              .header("X-API-Key", System.getenv("ACUITY_API_KEY"))
              .header("Content-Type", "application/json")
              .POST(publisher(Files.readAllBytes(path)))
              .build();
      try {
        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
        System.out.println(answer.statusCode() + " " + answer.body());
      } catch (IOException dropped) {
        if (!way.equals("cut")) throw dropped;
      }
    }
    System.exit(0); // its threads would wait for the pooled connections
  }
}
