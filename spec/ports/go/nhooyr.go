package main

import (
	"context"

	"nhooyr.io/websocket"
)

type nhooyr struct{ *websocket.Conn }

// It reads 32 768 bytes by default.
func dial(url string, raised bool) (socket, error) {
	conn, _, err := websocket.Dial(context.Background(), url, &websocket.DialOptions{Subprotocols: []string{"mux.v1.json"}})
	if raised && err == nil {
		conn.SetReadLimit(65536)
	}
	return nhooyr{conn}, err
}

func (n nhooyr) subprotocol() string { return n.Subprotocol() }

func (n nhooyr) read() (string, int, error) {
	_, text, err := n.Read(context.Background())
	return string(text), 1, err
}

func (n nhooyr) write(text string) {
	_ = n.Write(context.Background(), websocket.MessageText, []byte(text))
}

func (n nhooyr) close(code int) { _ = n.Close(websocket.StatusCode(code), "") }

func (n nhooyr) codeOf(err error) int { return int(websocket.CloseStatus(err)) }
