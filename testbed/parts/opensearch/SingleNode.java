import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/**
 * One OpenSearch node on 127.0.0.1, without the launcher that a distribution has: the published artifacts are the server
 * itself, so what answers is the real thing, headers included, less the modules that are separate plugins (security, index state
 * management).
 */
final class SingleNode extends Node {
  private SingleNode(Settings settings) {
    super(
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "testbed"),
        List.of(Netty4Plugin.class),
        false);
  }

  /** Runs until the process is ended; arguments: home folder, which holds the data, and HTTP port. */
  public static void main(String[] arguments) throws Exception {
    Settings settings =
        Settings.builder()
            .put("path.home", arguments[0])
            .put("cluster.name", "testbed")
            .put("network.host", "127.0.0.1")
            .put("http.port", arguments[1])
            .put("transport.port", "0")
            .put("transport.type", "netty4")
            .put("http.type", "netty4")
            .put("discovery.type", "single-node")
            // A test machine with a full disk would otherwise make every index read-only.
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
    Node node = new SingleNode(settings).start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
    new CountDownLatch(1).await();
  }

  private static void close(Node node) {
    try {
      node.close();
    } catch (java.io.IOException error) {
      error.printStackTrace();
    }
  }
}
