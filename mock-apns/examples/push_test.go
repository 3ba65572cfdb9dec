// Run with a mock beside it: with-mock-apns -- go test push.go push_test.go
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

var device = strings.Repeat("0a", 32)

const payload = `{"aps":{"alert":"hello"}}`

// admin asks the mock's admin pages.
func admin(t *testing.T, method, path, body string) []byte {
	t.Helper()
	request, _ := http.NewRequest(method, os.Getenv("MOCK_APNS_ADMIN")+path, strings.NewReader(body))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return text
}

func pushed(t *testing.T) (int, string) {
	t.Helper()
	client, err := connect(os.Getenv("MOCK_APNS_CREDENTIALS"))
	if err != nil {
		t.Fatal(err)
	}
	status, reason, err := push(client, os.Getenv("MOCK_APNS_PORT"), device, payload)
	if err != nil {
		t.Fatal(err)
	}
	return status, reason
}

func TestAPushArrives(t *testing.T) {
	admin(t, "POST", "/reset", "")
	if status, reason := pushed(t); status != 200 {
		t.Fatal(status, reason)
	}
	var arrived []struct{ Payload string }
	if err := json.Unmarshal(admin(t, "GET", "/pushes?token="+device, ""), &arrived); err != nil {
		t.Fatal(err)
	}
	if len(arrived) != 1 || arrived[0].Payload != payload {
		t.Fatal(arrived)
	}
}

func TestADeviceThatIsGone(t *testing.T) {
	admin(t, "POST", "/reset", "")
	admin(t, "PUT", "/devices/"+device, "{state: unregistered}")
	if status, reason := pushed(t); status != 410 || reason != "Unregistered" {
		t.Fatal(status, reason)
	}
}
