import java.io.IOException;
import java.net.URI;
import java.util.List;
import javax.websocket.*;

/** The socket of Tomcat's client. */
class Tomcat extends Socket {
  private final Session session;

  Tomcat(String url, boolean raised) throws Exception {
    WebSocketContainer container = ContainerProvider.getWebSocketContainer();
    if (raised) container.setDefaultMaxTextMessageBufferSize(65_536);
    Endpoint endpoint = new Endpoint() {
      public void onOpen(Session session, EndpointConfig config) {
        session.addMessageHandler(new MessageHandler.Whole<String>() {
          public void onMessage(String text) { piece(text, true); }
        });
      }
      public void onClose(Session session, CloseReason reason) { closed(reason.getCloseCode().getCode(), reason.getReasonPhrase()); }
    };
    ClientEndpointConfig config = ClientEndpointConfig.Builder.create().preferredSubprotocols(List.of("mux.v1.json")).build();
    session = container.connectToServer(endpoint, config, URI.create(url));
  }

  String subprotocol() { return session.getNegotiatedSubprotocol(); }
  void write(String text) throws IOException { session.getBasicRemote().sendText(text); }
  void close(int code) throws IOException { session.close(new CloseReason(CloseReason.CloseCodes.getCloseCode(code), "")); }
}
