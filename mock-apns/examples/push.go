// One push with Go's net/http. Usage: go run push.go CREDENTIALS PORT DEVICE; the provider token is in TOKEN.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

// connect makes one client for all pushes: its connection stays open, as Apple asks.
func connect(credentials string) (*http.Client, error) {
	pem, err := os.ReadFile(credentials + "/ca.pem")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}, nil
}

// push says the status, and the reason of a refusal: 410 means to forget the device, 429 and 503 to try again later.
func push(client *http.Client, port, device, payload string) (status int, reason string, err error) {
	request, err := http.NewRequest("POST", "https://localhost:"+port+"/3/device/"+device, strings.NewReader(payload))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("authorization", os.Getenv("TOKEN")) // "bearer …": what mock-apns token prints, or your own signer
	request.Header.Set("apns-topic", "com.example.app")
	request.Header.Set("apns-push-type", "alert")
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	var body struct{ Reason string }
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
		return answer.StatusCode, "", err
	}
	return answer.StatusCode, body.Reason, nil
}

func main() {
	log.SetFlags(0)
	client, err := connect(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	status, reason, err := push(client, os.Args[2], os.Args[3], `{"aps":{"alert":"hello"}}`)
	if err != nil {
		log.Fatal(err)
	}
	if status != http.StatusOK {
		log.Fatal(status, " ", reason)
	}
	os.Stdout.WriteString("200\n")
}
