import com.google.gson.JsonElement;
import java.io.IOException;
import java.util.*;

/** Runs a library's socket: `Program LIBRARY MODE URL`. Each mode but `hello` prints a line of JSON. */
class Program {
  static Socket dial(String library, String url, boolean raised) throws Exception {
    return library.equals("jdk") ? new Jdk(url, raised) : new Tomcat(url, raised);
  }

  /** What a library does by its defaults. */
  static Map<String, Object> facts(Socket socket) throws IOException {
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("subprotocol", socket.subprotocol());
    try {
      String text = socket.read();
      found.put("characters", text.codePointCount(0, text.length()));
    } catch (IOException error) {
      found.put("error", error.getMessage());
    }
    found.put("pieces", socket.pieces);
    return found;
  }

  static Mux connected(String library, String url) throws Exception {
    Socket socket = dial(library, url, true);
    if ("mux.v1.json".equals(socket.subprotocol())) return new Mux(socket);
    socket.close(1008);
    throw new IOException("expected the subprotocol mux.v1.json, got '" + socket.subprotocol() + "'");
  }

  static Map<String, Object> calls(String library, String url) throws Exception {
    Mux mux = connected(library, url);
    String big = "é😀\"x".repeat(125_000);
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("echo", mux.call(Map.of("op", "echo", "value", "é😀"), 0));
    found.put("count", mux.call(Map.of("op", "count"), 0).size());
    found.put("first", mux.call(Map.of("op", "ticks"), 3));
    found.put("cause", mux.call(Map.of("op", "cause"), 0));
    found.put("pinged", mux.call(Map.of("op", "ping"), 0));
    List<JsonElement> echoed = mux.call(Map.of("op", "echo", "value", big), 0);
    found.put("big", echoed.size() == 1 && echoed.get(0).getAsString().equals(big));
    try {
      mux.call(Map.of("op", "fail"), 0);
    } catch (Mux.Reset reset) {
      found.put("failed", List.of(reset.frame.get("code"), reset.frame.get("payload")));
    }
    mux.end(0, 1000);
    mux = connected(library, url);
    mux.call(Map.of("op", "leave"), 0);
    try {
      mux.next();
    } catch (IOException end) {
      found.put("goaway", mux.goaway);
      found.put("close", mux.socket.code);
    }
    return found;
  }

  public static void main(String[] args) {
    try {
      if (args[1].equals("facts")) System.out.println(Mux.GSON.toJson(facts(dial(args[0], args[2], false))));
      if (args[1].equals("calls")) System.out.println(Mux.GSON.toJson(calls(args[0], args[2])));
      if (args[1].equals("hello")) {
        Mux mux = connected(args[0], args[2]);
        if (!mux.call(List.of("check.echo", "hello"), 0).get(0).getAsString().equals("hello")) System.exit(1);
        mux.end(0, 1000);
      }
      // Threads of the library may keep the process alive.
      System.exit(0);
    } catch (Exception error) {
      error.printStackTrace();
      System.exit(1);
    }
  }
}
