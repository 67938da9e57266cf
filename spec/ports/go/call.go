package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

type frame struct {
	Type       string          `json:"type"`
	Stream     int64           `json:"stream,omitempty"`
	Code       *int            `json:"code,omitempty"`
	End        bool            `json:"end,omitempty"`
	Fragment   *string         `json:"fragment,omitempty"`
	LastStream *int64          `json:"last_stream,omitempty"`
	More       bool            `json:"more,omitempty"`
	Nonce      *string         `json:"nonce,omitempty"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Reason     string          `json:"reason,omitempty"`
}

func encoded(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n")
}

// call opens a stream, and returns its payloads, or cancels it after the first `most`.
func (m *mux) call(payload any, most int) ([]any, error) {
	m.stream += 2
	text := encoded(payload)
	last := frame{Type: "open", Stream: m.stream, End: true, Payload: json.RawMessage(text)}
	for rest := []rune(text); len(rest) > slice; {
		fragment, tail := string(rest[:slice]), string(rest[slice:])
		m.send(frame{Type: "open", Stream: m.stream, Fragment: &fragment, More: true})
		rest = rest[slice:]
		last.Payload, last.Fragment = nil, &tail
	}
	m.send(last)
	got, parts := []any{}, ""
	for {
		f, err := m.next()
		if err != nil {
			return got, err
		}
		if f.Fragment != nil {
			if parts += *f.Fragment; f.More {
				continue
			}
			f.Payload, parts = json.RawMessage(parts), ""
		}
		if f.Type == "reset" {
			return got, reset{f}
		}
		if f.Payload != nil {
			var value any
			if err := json.Unmarshal(f.Payload, &value); err != nil {
				return got, err
			}
			got = append(got, value)
		}
		if f.End {
			return got, nil
		}
		if len(got) == most {
			cancel := 8
			m.send(frame{Type: "reset", Stream: m.stream, Code: &cancel})
			return got, nil
		}
	}
}
