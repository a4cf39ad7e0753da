import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.Arrays;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.ScoringApi;
import org.openapitools.client.model.PredictionRequest;

/**
 * Sends requests by the client that openapi-generator makes of docs/openapi.json: `GeneratedClient BASE_URL FILE…`. Each
 * file is read into the generated class, and each answer is printed from the generated class, as one line of JSON.
 */
public class GeneratedClient {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    client.setRequestInterceptor(request -> request.header("X-API-Key", System.getenv("ACUITY_API_KEY")));
    ScoringApi scoring = new ScoringApi(client);
    ObjectMapper json = client.getObjectMapper();
    for (String path : Arrays.asList(arguments).subList(1, arguments.length)) {
      PredictionRequest request = json.readValue(new File(path), PredictionRequest.class);
      System.out.println(json.writeValueAsString(scoring.predict(request, null, null)));
    }
  }
}
