import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.Arrays;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.ScoringApi;
import org.openapitools.client.model.PredictionRequest;

/**
 * Sends requests by the client that openapi-generator makes of docs/openapi.json: `GeneratedClient PORT WAY FILE…`. Each
 * file is read into the generated class, and each answer is printed from it. See test/flow/foreignClients.test.ts.
 */
public class GeneratedClient {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("ACUITY_URL"));
    client.setRequestInterceptor(request -> request.header("X-API-Key", System.getenv("ACUITY_API_KEY")));
    ScoringApi scoring = new ScoringApi(client);
    ObjectMapper json = client.getObjectMapper();
    for (int time = 0; time < 2; time++) {
      for (String path : Arrays.asList(arguments).subList(2, arguments.length)) {
        PredictionRequest request = json.readValue(new File(path), PredictionRequest.class);
        System.out.println("200 " + json.writeValueAsString(scoring.predict(request, null, null)));
      }
    }
  }
}
