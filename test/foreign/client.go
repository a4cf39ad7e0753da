// A caller in Go, with net/http: `client PORT WAY FILE...`. See test/flow/foreignClients.test.ts.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

var port, way = os.Args[1], os.Args[2]

// slow gives its bytes in four pieces with pauses between them, and breaks off in the middle where it is cut.
type slow struct {
	body []byte
	sent int
}

func (slow *slow) Read(into []byte) (int, error) {
	if slow.sent == len(slow.body) {
		return 0, io.EOF
	}
	if way == "cut" && slow.sent >= len(slow.body)/2 {
		return 0, errors.New("dropped in the middle")
	}
	time.Sleep(5 * time.Millisecond)
	count := copy(into[:min(len(into), len(slow.body)/4+1)], slow.body[slow.sent:])
	slow.sent += count
	return count, nil
}

func send(client *http.Client, content []byte) error {
	var body io.Reader = &slow{body: content}
	if way == "plain" || way == "continued" {
		body = bytes.NewReader(content)
	}
	request, err := http.NewRequest("POST", "http://127.0.0.1:"+port+"/predict", body)
	if err != nil {
		return err
	}
	request.Header.Set("X-API-Key", os.Getenv("ACUITY_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	if way == "continued" {
		request.Header.Set("Expect", "100-continue")
	}
	request.ContentLength = int64(len(content))
	if way == "chunked" {
		request.ContentLength = -1
	}
	answer, err := client.Do(request)
	if way == "cut" {
		return nil
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Println(answer.StatusCode, string(text))
	return err
}

func main() {
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 20 * time.Second}}
	for _, path := range append(os.Args[3:], os.Args[3:]...) {
		content, err := os.ReadFile(path)
		if err == nil {
			err = send(client, content)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
