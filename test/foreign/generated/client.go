// Sends requests by the client that oapi-codegen makes of docs/openapi.json: `client BASE_URL FILE…`. Each file is read
// into the generated type, and each answer is printed from the generated type, as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func withKey(_ context.Context, request *http.Request) error {
	request.Header.Set("X-API-Key", os.Getenv("ACUITY_API_KEY"))
	return nil
}

func score(client *ClientWithResponses, path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var request PredictionRequest
	if err := json.Unmarshal(content, &request); err != nil {
		return nil, err
	}
	answer, err := client.PredictWithResponse(context.Background(), &PredictParams{}, request)
	if err != nil {
		return nil, err
	}
	if answer.JSON200 == nil {
		return nil, fmt.Errorf("%s: %s", answer.Status(), answer.Body)
	}
	return json.Marshal(answer.JSON200)
}

func main() {
	client, err := NewClientWithResponses(os.Args[1], WithRequestEditorFn(withKey))
	for _, path := range os.Args[2:] {
		var line []byte
		if err == nil {
			line, err = score(client, path)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(line))
	}
}
