package main

import "github.com/gorilla/websocket"

type gorilla struct{ *websocket.Conn }

// It reads messages of any length by default.
func dial(url string, _ bool) (socket, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"mux.v1.json"}}
	conn, _, err := dialer.Dial(url, nil)
	return gorilla{conn}, err
}

func (g gorilla) subprotocol() string { return g.Subprotocol() }

func (g gorilla) read() (string, int, error) {
	_, text, err := g.ReadMessage()
	return string(text), 1, err
}

func (g gorilla) write(text string) { _ = g.WriteMessage(websocket.TextMessage, []byte(text)) }

// It sends a close frame, and reads until the server has closed.
func (g gorilla) close(code int) {
	_ = g.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""))
	for err := error(nil); err == nil; _, _, err = g.ReadMessage() {
	}
	_ = g.Conn.Close()
}

func (g gorilla) codeOf(err error) int {
	if closed, ok := err.(*websocket.CloseError); ok {
		return closed.Code
	}
	return 1006
}
