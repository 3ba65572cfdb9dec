// Go's net/http: one push many times over one connection, with h2load's flags and a CA; prints what nio-push does.
// The first goes alone: until there is a connection this client dials another.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

func main() {
	requests := flag.Int("n", 1000, "requests")
	streams := flag.Int("m", 500, "goroutines, each with one request at a time")
	body := flag.String("d", "", "a file with the body")
	ca := flag.String("cacert", "", "a file with the CA to trust")
	headers := http.Header{}
	flag.Func("H", "a header field, name: value", func(field string) error {
		name, value, found := strings.Cut(field, ": ")
		if !found {
			return errors.New("expected name: value")
		}
		headers.Add(name, value)
		return nil
	})
	flag.Parse()
	payload, pem := read(*body), read(*ca)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, MaxConnsPerHost: 1}}
	left, others := make(chan bool), make(chan error, *requests)
	next := func() {
		if err := push(client, flag.Arg(0), headers, payload); err != nil {
			others <- err
		}
	}
	var sent sync.WaitGroup
	begin := time.Now()
	next()
	for index := 0; index < *streams; index++ {
		sent.Add(1)
		go func() {
			defer sent.Done()
			for range left {
				next()
			}
		}()
	}
	for index := 1; index < *requests; index++ {
		left <- true
	}
	close(left)
	sent.Wait()
	if count := len(others); count > 0 {
		end(fmt.Errorf("%d of %d not answered with 200: %w", count, *requests, <-others))
	}
	rate := float64(*requests) / time.Since(begin).Seconds()
	fmt.Printf("%d of %d answered with 200, %f a second\n", *requests, *requests, rate)
}

func push(client *http.Client, url string, headers http.Header, payload []byte) error {
	request, err := http.NewRequest("POST", url, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	request.Header = headers
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	if response.StatusCode != 200 || response.ProtoMajor != 2 {
		return errors.New(response.Proto + " " + response.Status)
	}
	return nil
}

func read(path string) []byte {
	content, err := os.ReadFile(path)
	if err != nil {
		end(err)
	}
	return content
}

func end(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
