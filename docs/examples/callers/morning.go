package main

import ("bytes"; "encoding/json"; "fmt"; "io"; "log"; "net/http"; "os")

func main() {
	history, _ := os.ReadFile(os.Args[1]) // of the person: empty before the first night
	recording, err := os.ReadFile("docs/examples/callers/oura.json")
	if err != nil { log.Fatal(err) }
	session := map[string]any{"recording": json.RawMessage(recording), "age": 34, "sex": "F"}
	body, _ := json.Marshal(map[string]any{"current_session": session, "history": string(history), "explain": true})
	call, _ := http.NewRequest("POST", os.Getenv("ACUITY_URL")+"/predict", bytes.NewReader(body))
	call.Header = http.Header{"X-Api-Key": {os.Getenv("ACUITY_API_KEY")}, "Content-Type": {"application/json"}}
	answer, err := http.DefaultClient.Do(call)
	if err != nil { log.Fatal(err) }
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != 200 { log.Fatal(string(text)) }
	var said struct { History string; Recording struct{ Night string }; Explanation struct{ Scores map[string]struct{ Text string } } }
	json.Unmarshal(text, &said)
	os.WriteFile(os.Args[1], []byte(said.History), 0o600)
	fmt.Printf("%s\n%s\n", said.Recording.Night, said.Explanation.Scores["stress"].Text)
}
