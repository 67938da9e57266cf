import java.net.URI;
import java.net.http.*;
import java.util.concurrent.CompletionStage;

/** The socket of java.net.http. It hands a long message over in pieces. */
class Jdk extends Socket implements WebSocket.Listener {
  private final WebSocket ws;

  Jdk(String url, boolean raised) {
    ws = HttpClient.newHttpClient().newWebSocketBuilder().subprotocols("mux.v1.json").buildAsync(URI.create(url), this).join();
  }

  String subprotocol() { return ws.getSubprotocol(); }
  void write(String text) { ws.sendText(text, true).join(); }

  /** The library refuses to send 1002, as a page does. So it sends the code of a page. */
  void close(int code) { ws.sendClose(code == 1002 ? 4002 : code, "").join(); }

  public CompletionStage<?> onText(WebSocket ws, CharSequence data, boolean last) {
    piece(data, last);
    ws.request(1);
    return null;
  }

  public CompletionStage<?> onClose(WebSocket ws, int code, String reason) {
    closed(code, reason);
    return null;
  }

  public void onError(WebSocket ws, Throwable error) { closed(1006, error.toString()); }
}
