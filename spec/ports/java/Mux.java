import com.google.gson.*;
import java.io.IOException;
import java.util.*;

/** A dialer of mux.v1.json over any socket, with one call at a time: streams, resets, fragments, pings and the close. */
class Mux {
  /** A code point of the encoded payload takes at most 4 bytes in its fragment. So no message has more than 65 536. */
  static final int SLICE = 16_000;
  static final int REFUSED = 7, CANCEL = 8;
  static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

  static class Reset extends IOException {
    final transient JsonObject frame;
    Reset(JsonObject frame) { super("reset with " + frame.get("code")); this.frame = frame; }
  }

  final Socket socket;
  long stream = -1;
  Integer goaway;

  Mux(Socket socket) { this.socket = socket; }

  /** Sends a frame. The fields come in their order, as the caller names them. */
  void send(Object... fields) throws IOException {
    Map<String, Object> frame = new LinkedHashMap<>();
    for (int at = 0; at < fields.length; at += 2) if (fields[at + 1] != null) frame.put((String) fields[at], fields[at + 1]);
    socket.write(GSON.toJson(frame));
  }

  /** Returns the next frame of the current stream, and handles those of the connection. */
  JsonObject next() throws IOException {
    while (true) {
      String text = socket.read();
      try {
        JsonObject frame = JsonParser.parseString(text).getAsJsonObject();
        String type = frame.get("type").getAsString();
        long id = frame.has("stream") ? frame.get("stream").getAsLong() : 0;
        if (type.equals("ping")) send("type", "pong", "nonce", frame.get("nonce"));
        if (type.equals("goaway")) goaway = frame.get("code").getAsInt();
        if (type.equals("open") && id % 2 == 1) throw new IllegalStateException("expected an even stream id");
        if (type.equals("open") && !frame.has("more")) send("type", "reset", "stream", id, "code", REFUSED);
        if ((type.equals("data") || type.equals("reset")) && id == stream) return frame;
      } catch (RuntimeException error) {
        end(1, 1002);
        throw error;
      }
    }
  }

  /** Opens a stream, and returns its payloads, or cancels it after the first `most`. */
  List<JsonElement> call(Object payload, int most) throws IOException {
    stream += 2;
    String text = GSON.toJson(payload);
    int from = 0;
    while (text.codePointCount(from, text.length()) > SLICE) {
      int to = text.offsetByCodePoints(from, SLICE);
      send("type", "open", "stream", stream, "fragment", text.substring(from, to), "more", true);
      from = to;
    }
    if (from == 0) send("type", "open", "stream", stream, "end", true, "payload", payload);
    else send("type", "open", "stream", stream, "end", true, "fragment", text.substring(from));
    List<JsonElement> got = new ArrayList<>();
    StringBuilder parts = new StringBuilder();
    while (true) {
      JsonObject frame = next();
      if (frame.has("fragment")) parts.append(frame.get("fragment").getAsString());
      if (frame.has("more")) continue;
      if (frame.get("type").getAsString().equals("reset")) throw new Reset(frame);
      if (frame.has("payload")) got.add(frame.get("payload"));
      if (parts.length() > 0) got.add(JsonParser.parseString(parts.toString()));
      parts.setLength(0);
      if (frame.has("end")) return got;
      if (got.size() != most) continue;
      send("type", "reset", "stream", stream, "code", CANCEL);
      return got;
    }
  }

  void end(int code, int status) throws IOException {
    send("type", "goaway", "code", code, "last_stream", 0);
    socket.close(status);
  }
}
