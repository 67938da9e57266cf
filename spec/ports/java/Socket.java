import java.io.IOException;
import java.util.concurrent.*;

/** A socket of a library. A text that is null marks the end. */
abstract class Socket {
  final BlockingQueue<Object> arrived = new LinkedBlockingQueue<>();
  final StringBuilder text = new StringBuilder();
  int pieces = 0;
  int code = 1006;

  abstract String subprotocol();
  abstract void write(String text) throws IOException;
  abstract void close(int code) throws IOException;

  /** A piece of a message has arrived. */
  void piece(CharSequence piece, boolean last) {
    text.append(piece);
    pieces++;
    if (!last) return;
    arrived.add(text.toString());
    text.setLength(0);
  }

  void closed(int code, String reason) {
    this.code = code;
    arrived.add(new IOException(code + " " + reason));
  }

  String read() throws IOException {
    try {
      Object next = arrived.take();
      if (next instanceof IOException) throw (IOException) next;
      return (String) next;
    } catch (InterruptedException error) {
      throw new IOException(error);
    }
  }
}
