// A dialer of mux.v1.json over any socket, with one call at a time: streams, resets, fragments, pings and the close.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A rune of the encoded payload takes at most 4 bytes in its fragment. So no message has more than 65 536.
const slice = 16000

type mux struct {
	socket
	stream int64
	goaway *int
}

// Reset says that the remote has reset the stream.
type reset struct{ frame }

func (r reset) Error() string { return fmt.Sprint("reset with ", *r.Code) }

func (m *mux) send(f frame) { m.write(encoded(f)) }

func (m *mux) end(code, status int, reason string) {
	m.send(frame{Type: "goaway", Code: &code, LastStream: new(int64), Reason: reason})
	m.close(status)
}

// next returns the next frame of the current stream.
func (m *mux) next() (f frame, err error) {
	for {
		text, _, err := m.read()
		if err != nil {
			return f, err
		}
		f = frame{}
		if err = json.Unmarshal([]byte(text), &f); err == nil {
			err = m.handle(f)
		}
		if err != nil {
			m.end(1, 1002, err.Error())
			return f, err
		}
		if (f.Type == "data" || f.Type == "reset") && f.Stream == m.stream {
			return f, nil
		}
	}
}

// handle handles a frame of the connection.
func (m *mux) handle(f frame) error {
	switch {
	case f.Type == "":
		return errors.New("expected a type")
	case f.Type == "ping":
		m.send(frame{Type: "pong", Nonce: f.Nonce})
	case f.Type == "goaway":
		m.goaway = f.Code
	case f.Type == "open" && f.Stream%2 == 1:
		return errors.New("expected an even stream id")
	case f.Type == "open" && !f.More:
		refused := 7
		m.send(frame{Type: "reset", Stream: f.Stream, Code: &refused})
	}
	return nil
}
