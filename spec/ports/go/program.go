package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
)

// A socket of a library. `dial` of the library makes it.
type socket interface {
	subprotocol() string
	// read returns a message, and the number of pieces that the library made of it.
	read() (text string, pieces int, err error)
	write(text string)
	close(code int)
	codeOf(err error) int
}

type job map[string]any

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// facts finds what a library does by its defaults.
func facts(url string) job {
	s := must(dial(url, false))
	text, pieces, err := s.read()
	found := job{"subprotocol": s.subprotocol(), "characters": len([]rune(text)), "pieces": pieces}
	if err != nil {
		found["error"] = err.Error()
	}
	s.close(1000)
	return found
}

func connected(url string) *mux {
	m := &mux{socket: must(dial(url, true)), stream: -1}
	if m.subprotocol() != "mux.v1.json" {
		m.close(1008)
		must(0, errors.New("expected the subprotocol mux.v1.json, got '"+m.subprotocol()+"'"))
	}
	return m
}

func calls(url string) job {
	m := connected(url)
	ask := func(op string, value any, most int) []any { return must(m.call(job{"op": op, "value": value}, most)) }
	big := strings.Repeat("é😀\"x", 125000)
	found := job{"echo": ask("echo", "é😀", 0), "count": len(ask("count", nil, 0)), "first": ask("ticks", nil, 3),
		"cause": ask("cause", nil, 0), "pinged": ask("ping", nil, 0), "big": reflect.DeepEqual(ask("echo", big, 0), []any{big})}
	_, err := m.call(job{"op": "fail"}, 0)
	failed := err.(reset)
	found["failed"] = []any{failed.Code, failed.Payload}
	m.end(0, 1000, "")
	m = connected(url)
	ask = func(op string, value any, most int) []any { return must(m.call(job{"op": op}, most)) }
	ask("leave", nil, 0)
	_, err = m.next()
	found["goaway"], found["close"] = m.goaway, m.codeOf(err)
	return found
}

func main() {
	mode, url := os.Args[1], os.Args[2]
	switch mode {
	case "facts":
		fmt.Println(encoded(facts(url)))
	case "calls":
		fmt.Println(encoded(calls(url)))
	case "hello":
		m := connected(url)
		if got := must(m.call([]any{"check.echo", "hello"}, 0)); !reflect.DeepEqual(got, []any{"hello"}) {
			must(0, fmt.Errorf("expected hello, got %v", got))
		}
		m.end(0, 1000, "")
	}
}
