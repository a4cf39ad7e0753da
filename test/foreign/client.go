// A caller in Go, with net/http: `client PORT`. See test/fixtures/foreign.ts.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	pause   = 5 * time.Millisecond
	timeout = 20 * time.Second
	pieces  = 4
)

// slow gives its bytes in four pieces with pauses between them, and calls `half` in the middle, where there is one.
type slow struct {
	left  []byte
	piece int
	half  func()
	sent  int
}

func (body *slow) Read(into []byte) (int, error) {
	if len(body.left) == 0 {
		return 0, io.EOF
	}
	if body.half != nil && body.sent >= 2*body.piece {
		body.half()
		return 0, errors.New("dropped in the middle")
	}
	time.Sleep(pause)
	count := copy(into[:min(len(into), body.piece)], body.left)
	body.left = body.left[count:]
	body.sent += count
	return count, nil
}

func slowly(content []byte, half func()) io.Reader {
	return &slow{left: content, piece: len(content)/pieces + 1, half: half}
}

func newRequest(way string, content []byte, cancel func(), ctx context.Context) (*http.Request, error) {
	var body io.Reader = bytes.NewReader(content)
	switch way {
	case "pieces", "chunked":
		body = slowly(content, nil)
	case "cut":
		body = slowly(content, cancel)
	case "left":
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			WroteRequest: func(httptrace.WroteRequestInfo) { cancel() },
		})
	}
	request, err := http.NewRequestWithContext(ctx, "POST", "http://127.0.0.1:"+os.Args[1]+"/predict", body)
	if err != nil {
		return nil, err
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
	return request, nil
}

func send(client *http.Client, way string, content []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	request, err := newRequest(way, content, cancel, ctx)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if way == "cut" || way == "left" {
		if err == nil {
			answer.Body.Close()
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	fmt.Println(answer.StatusCode, string(text))
	return nil
}

func run(fields []string) error {
	connection, way := fields[0], fields[1]
	times, err := strconv.Atoi(fields[2])
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: connection == "fresh", ExpectContinueTimeout: timeout}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for ; times > 0; times-- {
		for _, path := range fields[3:] {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := send(client, way, content); err != nil {
				return err
			}
		}
	}
	return nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := run(strings.Fields(lines.Text())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("end")
	}
}
