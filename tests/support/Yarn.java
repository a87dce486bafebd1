package yarn;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.SecretKey;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataInputByteBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.SecretManager;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationReportRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationReportResponse;
import org.apache.hadoop.yarn.api.protocolrecords.GetClusterMetricsResponse;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesResponse;
import org.apache.hadoop.yarn.api.protocolrecords.GetNewApplicationResponse;
import org.apache.hadoop.yarn.api.protocolrecords.KillApplicationRequest;
import org.apache.hadoop.yarn.api.protocolrecords.KillApplicationResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainerRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainersRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainersResponse;
import org.apache.hadoop.yarn.api.protocolrecords.StopContainersRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StopContainersResponse;
import org.apache.hadoop.yarn.api.protocolrecords.SubmitApplicationRequest;
import org.apache.hadoop.yarn.api.protocolrecords.SubmitApplicationResponse;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.LocalResource;
import org.apache.hadoop.yarn.api.records.LocalResourceType;
import org.apache.hadoop.yarn.api.records.NMToken;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.Token;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.api.records.YarnClusterMetrics;
import org.apache.hadoop.yarn.client.NMProxy;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.security.ContainerTokenIdentifier;
import org.apache.hadoop.yarn.security.NMTokenIdentifier;
import org.apache.hadoop.yarn.util.ConverterUtils;
import org.apache.hadoop.yarn.util.Records;

/**
 * A double of YARN's two kinds of servers: a ResourceManager, which gives out containers, and a
 * NodeManager, which carries them out on its machine. Hadoop's own RPC, records and tokens (as
 * pyspark has them for its client) are around it; what is asked of one is answered here, as far as
 * Spark asks. Janino compiles it, which knows no lambdas, and casts what generics would say.
 */
public final class Yarn {
  /** resources ADDRESS MEGABYTES NODE..., or node ADDRESS FOLDER; configuration from yarn-site.xml. */
  public static void main(String[] words) throws Exception {
    Configuration conf = new YarnConfiguration();
    if (words[0].equals("node")) {
      new Node(conf, words[1], words[2]).serve();
    } else {
      List nodes = Arrays.asList(words).subList(3, words.length);
      new Resources(conf, words[1], Integer.parseInt(words[2]), nodes).serve();
    }
    System.out.println("ready");
    Thread.sleep(Long.MAX_VALUE);
  }

  /** The port of each NodeManager. */
  static final int NODE_PORT = 8041;

  /** Serve a protocol by an object that has its methods; who asks must have a token. */
  static void serve(
      Configuration conf, Class protocol, InvocationHandler with, InetSocketAddress at, Tokens tokens)
      throws Exception {
    Configuration own = new Configuration(conf);
    if (tokens != null) {
      own.set("hadoop.security.authentication", "TOKEN");
    }
    Object made = Proxy.newProxyInstance(Yarn.class.getClassLoader(), new Class[] {protocol}, with);
    YarnRPC.create(own).getServer(protocol, made, at, own, tokens, 4).start();
  }

  static synchronized void say(String words) {
    System.out.println(words);
  }

  static NMToken nodeToken(Tokens tokens, ApplicationAttemptId attempt, NodeId node) {
    NMTokenIdentifier id = new NMTokenIdentifier(attempt, node, "root", 1);
    return NMToken.newInstance(node, token(tokens, id, node));
  }

  static Token token(Tokens tokens, TokenIdentifier id, NodeId node) {
    return Token.newInstance(
        id.getBytes(), id.getKind().toString(), tokens.password(id), node.toString());
  }
}

/** Passwords of tokens of one kind, made from what stands in them. */
final class Tokens extends SecretManager {
  private final Class kind;
  private final SecretKey key = SecretManager.createSecretKey("of this double".getBytes());

  Tokens(Class kind) {
    this.kind = kind;
  }

  byte[] password(TokenIdentifier id) {
    return SecretManager.createPassword(id.getBytes(), key);
  }

  protected byte[] createPassword(TokenIdentifier id) {
    return password(id);
  }

  public byte[] retrievePassword(TokenIdentifier id) {
    return password(id);
  }

  public TokenIdentifier createIdentifier() {
    try {
      return (TokenIdentifier) kind.getDeclaredConstructor(new Class[0]).newInstance(new Object[0]);
    } catch (Exception error) {
      throw new RuntimeException(error);
    }
  }
}

/** An application: what its master asked for, and the containers that it has. */
final class App {
  final ApplicationId id;
  /** The master's; each of them has containers of its own. */
  ApplicationAttemptId attempt;
  ApplicationSubmissionContext context;
  YarnApplicationState state = YarnApplicationState.NEW;
  FinalApplicationStatus outcome = FinalApplicationStatus.UNDEFINED;
  String diagnostics = "";
  String host = "N/A";
  int port = -1;
  int made = 0;
  int answers = 0;
  Container master;
  /** (priority, capability, allocation request) -> the request, whose number is what is wanting. */
  final Map wanted = new TreeMap();
  final Map running = new LinkedHashMap();
  final List ended = new ArrayList();

  App(ApplicationId id) {
    this.id = id;
    this.attempt = ApplicationAttemptId.newInstance(id, 1);
  }

  /** Another master is to be started in place of one that ended. */
  void again() {
    attempt = ApplicationAttemptId.newInstance(id, attempt.getAttemptId() + 1);
    state = YarnApplicationState.ACCEPTED;
    host = "N/A";
    port = -1;
    made = 0;
    answers = 0;
    master = null;
    wanted.clear();
    ended.clear();
  }

  boolean goesOn() {
    return state == YarnApplicationState.ACCEPTED || state == YarnApplicationState.RUNNING;
  }
}

/** The ResourceManager. */
final class Resources implements InvocationHandler {
  /** What one container may have (MB), as yarn.scheduler.maximum-allocation-mb says by default. */
  private static final int MOST = 8192;
  /** Masters of an application that says nothing else (yarn.resourcemanager.am.max-attempts). */
  private static final int ATTEMPTS = 2;
  private final Configuration conf;
  private final String address;
  private final int memory;
  private final List nodes = new ArrayList();
  private final Map apps = new LinkedHashMap();
  private final Map proxies = new HashMap();
  private final long began = System.currentTimeMillis();
  private final Tokens masters = new Tokens(AMRMTokenIdentifier.class);
  private final Tokens tokens = new Tokens(NMTokenIdentifier.class);

  Resources(Configuration conf, String address, int memory, List hosts) {
    this.conf = conf;
    this.address = address;
    this.memory = memory;
    for (Iterator each = hosts.iterator(); each.hasNext(); ) {
      nodes.add(NodeId.newInstance((String) each.next(), Yarn.NODE_PORT));
    }
  }

  void serve() throws Exception {
    Yarn.serve(
        conf, ApplicationClientProtocol.class, this, new InetSocketAddress(address, 8032), null);
    Yarn.serve(
        conf, ApplicationMasterProtocol.class, this, new InetSocketAddress(address, 8030), masters);
    Thread look =
        new Thread() {
          public void run() {
            while (true) {
              try {
                Thread.sleep(200);
                lookAtContainers();
              } catch (Exception error) {
                Yarn.say("look: " + error);
              }
            }
          }
        };
    look.setDaemon(true);
    look.start();
  }

  public synchronized Object invoke(Object proxy, Method method, Object[] words) throws Throwable {
    String name = method.getName();
    if (name.equals("getNewApplication")) {
      ApplicationId id = ApplicationId.newInstance(began, apps.size() + 1);
      apps.put(id, new App(id));
      Resource least = Resource.newInstance(1, 1);
      return GetNewApplicationResponse.newInstance(id, least, Resource.newInstance(MOST, 32));
    }
    if (name.equals("getClusterMetrics")) {
      return GetClusterMetricsResponse.newInstance(YarnClusterMetrics.newInstance(nodes.size()));
    }
    if (name.equals("submitApplication")) {
      return submit((SubmitApplicationRequest) words[0]);
    }
    if (name.equals("getApplicationReport")) {
      App app = (App) apps.get(((GetApplicationReportRequest) words[0]).getApplicationId());
      return GetApplicationReportResponse.newInstance(report(app));
    }
    if (name.equals("forceKillApplication")) {
      App app = (App) apps.get(((KillApplicationRequest) words[0]).getApplicationId());
      end(app, YarnApplicationState.KILLED, FinalApplicationStatus.KILLED, "killed by its client");
      return KillApplicationResponse.newInstance(true);
    }
    if (name.equals("registerApplicationMaster")) {
      return register(asking(), (RegisterApplicationMasterRequest) words[0]);
    }
    if (name.equals("allocate")) {
      return allocate(asking(), (AllocateRequest) words[0]);
    }
    if (name.equals("finishApplicationMaster")) {
      FinishApplicationMasterRequest said = (FinishApplicationMasterRequest) words[0];
      FinalApplicationStatus outcome = said.getFinalApplicationStatus();
      end(asking(), YarnApplicationState.FINISHED, outcome, said.getDiagnostics());
      return FinishApplicationMasterResponse.newInstance(true);
    }
    throw new UnsupportedOperationException(name);
  }

  /** The application whose master asks, by its token. */
  private App asking() throws Exception {
    for (Iterator each = UserGroupInformation.getCurrentUser().getTokenIdentifiers().iterator();
        each.hasNext(); ) {
      Object id = each.next();
      if (id instanceof AMRMTokenIdentifier) {
        ApplicationAttemptId attempt = ((AMRMTokenIdentifier) id).getApplicationAttemptId();
        App app = (App) apps.get(attempt.getApplicationId());
        if (!app.attempt.equals(attempt)) {
          throw new ApplicationAttemptNotFoundException(attempt + " has ended");
        }
        return app;
      }
    }
    throw new SecurityException("who asks has no token of a master");
  }

  private Object submit(SubmitApplicationRequest request) throws Exception {
    final App app = (App) apps.get(request.getApplicationSubmissionContext().getApplicationId());
    app.context = request.getApplicationSubmissionContext();
    app.state = YarnApplicationState.ACCEPTED;
    Yarn.say("submitted " + app.id + " " + app.context.getApplicationName());
    startMaster(app);
    return Records.newRecord(SubmitApplicationResponse.class);
  }

  /** Start the master of an application, once there is room for it. */
  private void startMaster(final App app) throws Exception {
    app.master = place(app, app.context.getResource(), Priority.newInstance(0), 0);
    if (app.master == null) {
      return;
    }
    ContainerLaunchContext spec = app.context.getAMContainerSpec();
    Credentials credentials = new Credentials();
    if (spec.getTokens() != null) {
      DataInputByteBuffer in = new DataInputByteBuffer();
      in.reset(new ByteBuffer[] {spec.getTokens().asReadOnlyBuffer()});
      credentials.readTokenStorageStream(in);
    }
    AMRMTokenIdentifier id = new AMRMTokenIdentifier(app.attempt, 1);
    credentials.addToken(
        new Text("master"),
        new org.apache.hadoop.security.token.Token(
            id.getBytes(), masters.password(id), id.getKind(), new Text()));
    DataOutputBuffer out = new DataOutputBuffer();
    credentials.writeTokenStorageToStream((DataOutputStream) out);
    spec.setTokens(ByteBuffer.wrap(out.getData(), 0, out.getLength()));
    spec.getEnvironment().put("APPLICATION_WEB_PROXY_BASE", "/proxy/" + app.id);
    final List requests =
        Collections.singletonList(
            StartContainerRequest.newInstance(spec, app.master.getContainerToken()));
    Thread launch =
        new Thread() {
          public void run() {
            try {
              at(app, app.master.getNodeId())
                  .startContainers(StartContainersRequest.newInstance(requests));
            } catch (Exception error) {
              Yarn.say("launch: " + error);
            }
          }
        };
    launch.start();
  }

  /** A NodeManager, as one asks it for an attempt of an application: over one connection. */
  ContainerManagementProtocol at(App app, NodeId node) throws Exception {
    synchronized (proxies) {
      String key = app.attempt + " " + node;
      Object made = proxies.get(key);
      if (made == null) {
        InetSocketAddress place = new InetSocketAddress(node.getHost(), node.getPort());
        UserGroupInformation user = UserGroupInformation.createRemoteUser(app.attempt.toString());
        Token token = Yarn.nodeToken(tokens, app.attempt, node).getToken();
        user.addToken(ConverterUtils.convertFromYarn(token, place));
        made =
            NMProxy.createNMProxy(
                conf, ContainerManagementProtocol.class, user, YarnRPC.create(conf), place);
        proxies.put(key, made);
      }
      return (ContainerManagementProtocol) made;
    }
  }

  /** A container on the node with the most memory left, or null. */
  private Container place(App app, Resource size, Priority priority, long asked) {
    NodeId best = null;
    long most = size.getMemorySize() - 1;
    for (Iterator each = nodes.iterator(); each.hasNext(); ) {
      NodeId node = (NodeId) each.next();
      long free = memory - used(node);
      if (free > most) {
        most = free;
        best = node;
      }
    }
    if (best == null) {
      return null;
    }
    app.made += 1;
    ContainerId id = ContainerId.newContainerId(app.attempt, app.made);
    ContainerTokenIdentifier told =
        new ContainerTokenIdentifier(
            id, best.toString(), "root", size, Long.MAX_VALUE, 1, began, priority, 0L);
    Token token = Yarn.token(tokens, told, best);
    Container made = Container.newInstance(id, best, best.getHost() + ":8042", size, priority, token);
    made.setAllocationRequestId(asked);
    app.running.put(id, made);
    Yarn.say("allocated " + id + " " + size + " at " + best);
    return made;
  }

  private long used(NodeId node) {
    long sum = 0;
    for (Iterator each = apps.values().iterator(); each.hasNext(); ) {
      Iterator some = ((App) each.next()).running.values().iterator();
      while (some.hasNext()) {
        Container one = (Container) some.next();
        sum += one.getNodeId().equals(node) ? one.getResource().getMemorySize() : 0;
      }
    }
    return sum;
  }

  private Object register(App app, RegisterApplicationMasterRequest request) {
    app.state = YarnApplicationState.RUNNING;
    app.host = request.getHost();
    app.port = request.getRpcPort();
    Yarn.say("registered " + app.id);
    return RegisterApplicationMasterResponse.newInstance(
        Resource.newInstance(1, 1),
        Resource.newInstance(MOST, 32),
        new HashMap(),
        null,
        new ArrayList(),
        "default",
        new ArrayList());
  }

  private Object allocate(App app, AllocateRequest request) throws Exception {
    for (Iterator each = request.getReleaseList().iterator(); each.hasNext(); ) {
      stop(app, (ContainerId) each.next());
    }
    for (Iterator each = request.getAskList().iterator(); each.hasNext(); ) {
      ResourceRequest ask = (ResourceRequest) each.next();
      if (ask.getResourceName().equals(ResourceRequest.ANY)) {
        Object key =
            ask.getPriority() + " " + ask.getCapability() + " " + ask.getAllocationRequestId();
        app.wanted.put(key, ask);
      }
    }
    List given = new ArrayList();
    List access = new ArrayList();
    for (Iterator each = app.wanted.values().iterator(); each.hasNext(); ) {
      ResourceRequest ask = (ResourceRequest) each.next();
      while (ask.getNumContainers() > 0) {
        Container made =
            place(app, ask.getCapability(), ask.getPriority(), ask.getAllocationRequestId());
        if (made == null) {
          break;
        }
        ask.setNumContainers(ask.getNumContainers() - 1);
        given.add(made);
        access.add(Yarn.nodeToken(tokens, app.attempt, made.getNodeId()));
      }
    }
    app.answers += 1;
    AllocateResponse response = (AllocateResponse) Records.newRecord(AllocateResponse.class);
    response.setResponseId(app.answers);
    response.setAllocatedContainers(given);
    response.setNMTokens(access);
    response.setCompletedContainersStatuses(new ArrayList(app.ended));
    response.setUpdatedNodes(new ArrayList());
    response.setAvailableResources(Resource.newInstance(memory, 32));
    response.setNumClusterNodes(nodes.size());
    app.ended.clear();
    return response;
  }

  /** What became of containers that run, as their nodes know. */
  void lookAtContainers() throws Exception {
    List all = new ArrayList();
    synchronized (this) {
      all.addAll(apps.values());
    }
    for (Iterator each = all.iterator(); each.hasNext(); ) {
      App app = (App) each.next();
      Map running = null;
      synchronized (this) {
        running = new LinkedHashMap(app.running);
        if (app.state == YarnApplicationState.ACCEPTED && app.master == null) {
          startMaster(app);
        }
      }
      for (Iterator some = running.values().iterator(); some.hasNext(); ) {
        Container container = (Container) some.next();
        ContainerStatus status = status(app, container);
        if (status != null && status.getState() == ContainerState.COMPLETE) {
          ended(app, container, status);
        }
      }
    }
  }

  private ContainerStatus status(App app, Container container) {
    try {
      List ids = Collections.singletonList(container.getId());
      GetContainerStatusesResponse response =
          at(app, container.getNodeId())
              .getContainerStatuses(GetContainerStatusesRequest.newInstance(ids));
      List statuses = response.getContainerStatuses();
      return statuses.isEmpty() ? null : (ContainerStatus) statuses.get(0);
    } catch (Exception error) {
      Yarn.say("status: " + error);
      return null;
    }
  }

  private synchronized void ended(App app, Container container, ContainerStatus status) {
    if (app.running.remove(container.getId()) == null) {
      return;
    }
    Yarn.say("ended " + container.getId() + " " + status.getExitStatus());
    app.ended.add(status);
    if (container == app.master && app.goesOn()) {
      String words = "AM Container for " + app.attempt + " exited with exitCode: "
          + status.getExitStatus();
      int most = app.context.getMaxAppAttempts();
      if (app.attempt.getAttemptId() < (most > 0 ? most : ATTEMPTS)) {
        Yarn.say(words);
        stopAll(app);
        app.again();
      } else {
        end(app, YarnApplicationState.FAILED, FinalApplicationStatus.FAILED, words);
      }
    }
  }

  private void stop(App app, ContainerId id) {
    Container container = (Container) app.running.get(id);
    if (container != null) {
      try {
        at(app, container.getNodeId())
            .stopContainers(StopContainersRequest.newInstance(Collections.singletonList(id)));
      } catch (Exception error) {
        Yarn.say("stop: " + error);
      }
    }
  }

  /** An application is over: its containers end, but for the master, which ends by itself. */
  private void end(
      App app, YarnApplicationState state, FinalApplicationStatus outcome, String words) {
    app.state = state;
    app.outcome = outcome;
    app.diagnostics = words == null ? "" : words;
    Yarn.say(state + " " + app.id + " " + outcome + " " + app.diagnostics);
    stopAll(app);
  }

  /** End the containers of an application, but for a master that ends by itself. */
  private void stopAll(App app) {
    for (Iterator each = new ArrayList(app.running.keySet()).iterator(); each.hasNext(); ) {
      ContainerId id = (ContainerId) each.next();
      boolean master = app.master != null && id.equals(app.master.getId());
      if (!master || app.state == YarnApplicationState.KILLED) {
        stop(app, id);
      }
    }
  }

  private ApplicationReport report(App app) {
    ApplicationReport report = (ApplicationReport) Records.newRecord(ApplicationReport.class);
    report.setApplicationId(app.id);
    report.setCurrentApplicationAttemptId(app.attempt);
    report.setUser("root");
    report.setQueue("default");
    report.setName(app.context == null ? "" : app.context.getApplicationName());
    report.setHost(app.host);
    report.setRpcPort(app.port);
    report.setYarnApplicationState(app.state);
    report.setFinalApplicationStatus(app.outcome);
    report.setDiagnostics(app.diagnostics);
    report.setTrackingUrl("N/A");
    report.setOriginalTrackingUrl("N/A");
    report.setStartTime(began);
    report.setProgress(0.0f);
    return report;
  }
}

/** A NodeManager: it fetches what a container needs, and runs its command in a folder of its own. */
final class Node implements InvocationHandler {
  private final Configuration conf;
  private final String address;
  private final File folder;
  private final Map processes = new HashMap();
  private final Map statuses = new HashMap();

  Node(Configuration conf, String address, String folder) {
    this.conf = conf;
    this.address = address;
    this.folder = new File(folder);
  }

  void serve() throws Exception {
    Tokens tokens = new Tokens(NMTokenIdentifier.class);
    InetSocketAddress at = new InetSocketAddress(address, Yarn.NODE_PORT);
    Yarn.serve(conf, ContainerManagementProtocol.class, this, at, tokens);
  }

  public Object invoke(Object proxy, Method method, Object[] words) throws Throwable {
    String name = method.getName();
    if (name.equals("startContainers")) {
      List done = new ArrayList();
      List requests = ((StartContainersRequest) words[0]).getStartContainerRequests();
      for (Iterator each = requests.iterator(); each.hasNext(); ) {
        done.add(begin((StartContainerRequest) each.next()));
      }
      return StartContainersResponse.newInstance(new HashMap(), done, new HashMap());
    }
    if (name.equals("stopContainers")) {
      List ids = ((StopContainersRequest) words[0]).getContainerIds();
      for (Iterator each = ids.iterator(); each.hasNext(); ) {
        stop((ContainerId) each.next());
      }
      return StopContainersResponse.newInstance(ids, new HashMap());
    }
    if (name.equals("getContainerStatuses")) {
      List found = new ArrayList();
      List ids = ((GetContainerStatusesRequest) words[0]).getContainerIds();
      synchronized (statuses) {
        for (Iterator each = ids.iterator(); each.hasNext(); ) {
          Object status = statuses.get(each.next());
          if (status != null) {
            found.add(status);
          }
        }
      }
      return GetContainerStatusesResponse.newInstance(found, new HashMap());
    }
    throw new UnsupportedOperationException(name);
  }

  private ContainerId begin(StartContainerRequest request) throws Exception {
    ContainerTokenIdentifier told = new ContainerTokenIdentifier();
    ByteBuffer bytes = request.getContainerToken().getIdentifier().asReadOnlyBuffer();
    byte[] raw = new byte[bytes.remaining()];
    bytes.get(raw);
    told.readFields(new DataInputStream(new ByteArrayInputStream(raw)));
    final ContainerId id = told.getContainerID();
    final ContainerLaunchContext spec = request.getContainerLaunchContext();
    tell(id, ContainerState.RUNNING, "", -1000);
    Thread work =
        new Thread() {
          public void run() {
            try {
              carryOut(id, spec);
            } catch (Exception error) {
              error.printStackTrace(System.out);
              tell(id, ContainerState.COMPLETE, error.toString(), -1000);
            }
          }
        };
    work.start();
    return id;
  }

  void tell(ContainerId id, ContainerState state, String words, int code) {
    synchronized (statuses) {
      statuses.put(id, ContainerStatus.newInstance(id, state, words, code));
    }
  }

  private void stop(ContainerId id) throws Exception {
    Process process = null;
    synchronized (processes) {
      process = (Process) processes.get(id);
    }
    if (process != null) {
      String group = "-" + process.pid();
      run(new String[] {"kill", "-TERM", "--", group});
      Thread.sleep(250);
      run(new String[] {"kill", "-KILL", "--", group});
    }
  }

  private static void run(String[] words) throws Exception {
    new ProcessBuilder(words).start().waitFor();
  }

  void carryOut(ContainerId id, ContainerLaunchContext spec) throws Exception {
    String app = id.getApplicationAttemptId().getApplicationId().toString();
    File shared = new File(folder, "usercache/root/appcache/" + app);
    File work = new File(shared, id.toString());
    File logs = new File(folder, "logs/" + app + "/" + id);
    work.mkdirs();
    logs.mkdirs();
    for (Iterator each = spec.getLocalResources().entrySet().iterator(); each.hasNext(); ) {
      Map.Entry entry = (Map.Entry) each.next();
      fetch((LocalResource) entry.getValue(), new File(work, (String) entry.getKey()));
    }
    File tokens = new File(work, "container_tokens");
    FileOutputStream out = new FileOutputStream(tokens);
    out.getChannel().write(spec.getTokens().asReadOnlyBuffer());
    out.close();
    Map variables = new LinkedHashMap();
    variables.put("CONTAINER_ID", id.toString());
    variables.put("NM_HOST", address);
    variables.put("NM_PORT", String.valueOf(Yarn.NODE_PORT));
    variables.put("NM_HTTP_PORT", "8042");
    variables.put("LOCAL_DIRS", shared.getPath());
    variables.put("LOG_DIRS", logs.getPath());
    variables.put("USER", "root");
    variables.put("LOGNAME", "root");
    variables.put("HOME", "/home/");
    variables.put("PWD", work.getPath());
    variables.put("JAVA_HOME", System.getenv("JAVA_HOME"));
    variables.put("PATH", System.getenv("PATH"));
    variables.put("HADOOP_TOKEN_FILE_LOCATION", tokens.getPath());
    StringBuilder script = new StringBuilder("#!/bin/bash\n");
    for (Iterator each = variables.entrySet().iterator(); each.hasNext(); ) {
      Map.Entry entry = (Map.Entry) each.next();
      script.append("export " + entry.getKey() + "=\"" + entry.getValue() + "\"\n");
    }
    for (Iterator each = spec.getEnvironment().entrySet().iterator(); each.hasNext(); ) {
      Map.Entry entry = (Map.Entry) each.next();
      String value = expand((String) entry.getValue(), logs);
      script.append("export " + entry.getKey() + "=\"" + value + "\"\n");
    }
    StringBuilder command = new StringBuilder("exec /bin/bash -c \"");
    for (Iterator each = spec.getCommands().iterator(); each.hasNext(); ) {
      command.append(expand((String) each.next(), logs).replace("\"", "\\\"")).append(' ');
    }
    script.append(command.append("\"\n"));
    File launch = new File(work, "launch_container.sh");
    Writer writer = new OutputStreamWriter(new FileOutputStream(launch), "UTF-8");
    writer.write(script.toString());
    writer.close();
    ProcessBuilder builder =
        new ProcessBuilder(new String[] {"setsid", "--wait", "bash", launch.getPath()});
    builder.directory(work);
    builder.environment().clear();
    builder.redirectErrorStream(true);
    builder.redirectOutput(new File(logs, "launch"));
    Process process = builder.start();
    synchronized (processes) {
      processes.put(id, process);
    }
    int code = process.waitFor();
    Yarn.say("ended " + id + " " + code);
    tell(id, ContainerState.COMPLETE, "Exit code: " + code, code);
  }

  private static String expand(String words, File logs) {
    return words
        .replace("<LOG_DIR>", logs.getPath())
        .replace("<CPS>", ":")
        .replace("{{", "$")
        .replace("}}", "");
  }

  private void fetch(LocalResource resource, File target) throws Exception {
    Path source = resource.getResource().toPath();
    FileSystem system = source.getFileSystem(conf);
    long time = system.getFileStatus(source).getModificationTime();
    if (time != resource.getTimestamp()) {
      throw new IllegalStateException(source + " changed on src filesystem");
    }
    boolean archive = resource.getType() == LocalResourceType.ARCHIVE;
    File copy = archive ? new File(target.getPath() + ".fetched") : target;
    FileUtil.copy(system, source, copy, false, conf);
    if (archive) {
      String name = source.getName();
      if (name.endsWith(".zip") || name.endsWith(".jar")) {
        FileUtil.unZip(copy, target);
      } else {
        FileUtil.unTar(copy, target);
      }
      copy.delete();
    }
  }
}
