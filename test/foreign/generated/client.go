// Sends requests by the client that oapi-codegen makes of docs/openapi.json: `client PORT WAY FILE…`. Each file is read
// into the generated type, and each answer is printed from the generated type. See test/flow/foreignClients.test.ts.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	client, err := NewClientWithResponses(os.Getenv("ACUITY_URL"), WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("X-API-Key", os.Getenv("ACUITY_API_KEY"))
			return nil
		}))
	check(err)
	for _, path := range append(os.Args[3:], os.Args[3:]...) {
		content, err := os.ReadFile(path)
		check(err)
		var request PredictionRequest
		check(json.Unmarshal(content, &request))
		answer, err := client.PredictWithResponse(context.Background(), &PredictParams{}, request)
		check(err)
		line, err := json.Marshal(answer.JSON200)
		check(err)
		fmt.Println(answer.StatusCode(), string(line))
	}
}
