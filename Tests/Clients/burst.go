// Go's net/http: COUNT requests at once over one connection. Usage: burst.go FOLDER PORT COUNT; the provider token is in TOKEN.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

func main() {
	folder, port := os.Args[1], os.Args[2]
	count, _ := strconv.Atoi(os.Args[3])
	pem, err := os.ReadFile(folder + "/ca.pem")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, MaxConnsPerHost: 1}}
	answers := map[string]int{}
	var lock sync.Mutex
	var sent sync.WaitGroup
	for index := 0; index < count; index++ {
		sent.Add(1)
		go func(index int) {
			defer sent.Done()
			answer := push(client, fmt.Sprintf("https://localhost:%s/3/device/%064x", port, index))
			lock.Lock()
			answers[answer]++
			lock.Unlock()
		}(index)
	}
	sent.Wait()
	text, _ := json.Marshal(map[string]any{"version": runtime.Version(), "answers": answers})
	fmt.Println(string(text))
}

func push(client *http.Client, url string) string {
	request, err := http.NewRequest("POST", url, strings.NewReader(`{"aps":{"alert":"hello"}}`))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("authorization", os.Getenv("TOKEN"))
	request.Header.Set("apns-topic", "com.example.app")
	request.Header.Set("apns-push-type", "alert")
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	if response.ProtoMajor != 2 {
		return "not HTTP/2"
	}
	return strconv.Itoa(response.StatusCode)
}
