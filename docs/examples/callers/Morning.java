import java.net.URI;
import java.net.http.*;
import java.nio.file.*;
import java.util.regex.Pattern;

class Morning {
  public static void main(String[] args) throws Exception {
    var recording = Files.readString(Path.of("docs/examples/callers/oura.json"));
    var stored = Path.of(args[0]); // the person's history: empty before the first night
    var history = Files.exists(stored) ? Files.readString(stored) : "";
    var call = HttpRequest.newBuilder(URI.create(System.getenv("ACUITY_URL") + "/predict"))
        .headers("X-API-Key", System.getenv("ACUITY_API_KEY"), "Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString("""
            {"current_session":{"recording":%s,"age":34,"sex":"F"},"history":"%s","explain":true}"""
            .formatted(recording, history))).build();
    var answer = HttpClient.newHttpClient().send(call, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IllegalStateException(answer.body());
    Files.writeString(stored, field("\"history\":", answer.body()));
    System.out.println(field("\"night\":", answer.body()));
    System.out.println(field("\"stress\":[{].*?\"text\":", answer.body()));
  }

  /** Any JSON library does it; the language has none. */
  private static String field(String before, String text) {
    return Pattern.compile(before + "\"([^\"]*)").matcher(text).results().findFirst().orElseThrow().group(1);
  }
}
