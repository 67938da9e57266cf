/** The exports of one entry point: values, and types. */
export interface DoorNames {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

const names = (text: string): string[] => text.trim().split(/\s+/).sort();

/** The names that all doors of other runtimes' servers have. */
const SERVER_VALUES = names('Totals VERSION refuse serve');
const SERVER_TYPES =
  'AcceptedOptions HelloLimits JudgedOptions OriginRules OriginsOf PeerServer RefusalOf ServeOptions ServerNotifyOptions ServerStats TotalLimits UpgradeRefusal Verdict';

/**
 * The public names of each entry point. A name is added or removed here by hand, so that no name becomes public or private
 * unnoticed.
 */
export const PUBLIC_NAMES: Readonly<
  Record<
    | 'index'
    | 'node'
    | 'msgpack'
    | 'rich'
    | 'port'
    | 'websocketstream'
    | 'session'
    | 'contract'
    | 'angular'
    | 'react'
    | 'topics'
    | 'nats'
    | 'redis'
    | 'ipc'
    | 'bun'
    | 'deno'
    | 'workerd'
    | 'crossws'
    | 'uploads'
    | 'vue'
    | 'svelte'
    | 'solid'
    | 'tanstack'
    | 'inspect'
    | 'inspector'
    | 'vite'
    | 'otel'
    | 'testing',
    DoorNames
  >
> = {
  index: {
    values: names(`
      ABSENT Assembler CloseCode DEFAULT_LIMITS MAX_FRAME_BYTES PREFIX Reassembly ResetCode StreamFault V1_FRAME_TYPES VERSION
      encodedLength framesEqual fromMapping resetCodeName splitFrame toMapping
      JsonCodec clearCodecs getCodec registerCodec registeredCodecs
      Settings logger settings
      Peer SharedPayload Stream connect defaultErrorSerializer
      CancelledError CodecError CodecMismatch CodecNotRegistered ConnectError ConnectionLostError DeadlineExceededError MuxError ProtocolError
      QueueOverflowError RefusedError RemoteError ResetError StreamError StreamIdsExhaustedError isMuxError
      assemble closeReasons decode demultiplex encode encodeOnce fragment interceptIncomingHeaders interceptOpen interceptReplyHeaders observeFrames
      ofDirection ofStream ofType reopenOnReconnect respond retryWhenSafe through withCredit
    `),
    types: names(`
      Absent CloseReason Codec CompleteFrame DecodeLimits Frame FrameDirection FrameEvent FrameType Given Limits Message Metadata MetadataInput Rate
      ConnectOptions ConnectUrl DialContext DialFailure Hello Keepalive NewPeerOptions PeerContext PeerOptions PeerStats PeerStatus Reconnect SocketEvent SocketLike Traffic Usage
      Answer ByteCounts DeadlineOptions MuxErrorOptions PeerClose ReopenAlike ReopenFromNothing StreamCounts StreamErrorOptions
      CallEnd CallEvent CloseOptions Credit EndOptions FeedOptions Input InputOptions NativeObservable OpenOptions Overflow Reopen ReplyOptions Retry Routed SendOptions Sink Sinks SliceQueue Slicer Source WithDirection WithFrame
      CloseHandler ErrorHandler ErrorSerializer FrameObserver HandlerFailure IncomingHeadersInterceptor OpenInterceptor Remove ReplyHeadersInterceptor StreamHandler
      AnyMuxError AnyStreamError CloseCause StreamPhase LogLevel Logger
    `),
  },
  node: {
    values: names('Totals VERSION accept connect handleUpgrade refuse serve'),
    types: names(`
      AcceptOptions AcceptedOptions ByteCounts DeflateOptions HelloLimits JudgedOptions MuxServer NodeConnectOptions
      OriginRules Origins OriginsOf PeerServer PeerStats Refusal RefusalOf ServeBase ServeOptions
      ServerNotifyOptions ServerStats StreamCounts TotalLimits Traffic TrustProxy UpgradeOptions UpgradeRefusal
      Usage Verdict
    `),
  },
  bun: {
    values: SERVER_VALUES,
    types: names(`${SERVER_TYPES} BunMux BunServer BunSocket BunSocketData BunWebSocketHandlers`),
  },
  deno: {
    values: SERVER_VALUES,
    types: names(`${SERVER_TYPES} DenoMux DenoServeInfo`),
  },
  workerd: {
    values: SERVER_VALUES,
    types: names(`${SERVER_TYPES} WorkerdMux`),
  },
  crossws: {
    values: SERVER_VALUES,
    types: names(`${SERVER_TYPES} CrosswsHooks CrosswsMessage CrosswsMux CrosswsPeer`),
  },
  msgpack: {
    values: names('MsgpackCodec VERSION'),
    types: [],
  },
  rich: {
    values: names('RichCodec VERSION'),
    types: [],
  },
  port: {
    values: names('VERSION portSocket'),
    types: names('PortLike SocketLike'),
  },
  websocketstream: {
    values: names('VERSION webSocketStream'),
    types: names('SocketLike'),
  },
  session: {
    values: names('VERSION renewing sessionEnds sessionExpired sessionRefused'),
    types: names('DialContext Hello SessionEndOptions'),
  },
  contract: {
    values: names('VERSION answer answering channel client contract fail isFailure plain request shared stream upload whenError'),
    types: names(`
      AnswerOptions AnswerTo Answering AnsweringOptions Answers Around Arriving Call CallOf Carried CaughtData ChannelCall
      ChannelProcedure Checked Client ClientOptions CodecIn CodecName CommonErrors ContextOf Contract ContractOptions ErrorData
      ErrorsOf Failure Inputs Issue Item Items Kind NamesOf Over OverCodec Payload Procedure Received Reply ReplyInput
      RequestCall RequestProcedure SchemaIssue SchemaResult SendingOptions Sent SharedOptions StandardSchemaV1 StreamCall StreamProcedure
      UploadCall UploadProcedure Verify
    `),
  },
  angular: {
    values: names('MUX VERSION injectCall injectPeer injectStatus muxResource provideMux'),
    types: names(
      'CallActions CallState FailureOf InitialValue InjectedCall MuxResource MuxResourceOptions MuxResourceStatus UseCallOptions',
    ),
  },
  react: {
    values: names('MuxProvider VERSION useCall useMux useMuxStatus useStream useSuspenseStream'),
    types: names(
      'CallActions CallState FailureOf MuxProviderProps StreamState StreamStatus SuspenseStreamState UseCallOptions UseStreamOptions UsedCall',
    ),
  },
  vue: {
    values: names('MUX VERSION useCall useMux useMuxStatus useStream'),
    types: names('CallActions CallState FailureOf Refs StreamState StreamStatus UseCallOptions UseStreamOptions UsedCall'),
  },
  svelte: {
    values: names('VERSION setMux useCall useMux useMuxStatus useStream'),
    types: names('CallActions CallState FailureOf StreamState StreamStatus UseCallOptions UseStreamOptions UsedCall'),
  },
  solid: {
    values: names('MuxProvider VERSION useCall useMux useMuxStatus useStream'),
    types: names(
      'Accessors CallActions CallState FailureOf MuxProviderProps StreamState StreamStatus UseCallOptions UseStreamOptions UsedCall',
    ),
  },
  tanstack: {
    values: names('VERSION queries'),
    types: names(
      'MutationOptions NamesOfQueries Queries QueriesOf QueriesOptions QueryOptions RequestQueries StreamQueries StreamedOptions UploadQueries UploadVariables',
    ),
  },
  topics: {
    values: names('BrokerError CursorLost VERSION answerTopic catchUp memoryBus memoryLog presence replayable room topic usersOf'),
    types: names(
      'BrokerErrorCode Bus CatchUpOptions Followed Log MemoryLogOptions Message Presence PresenceOptions PublishOptions Recipient Replayable ReplayableOptions ReplayableSource TopicItem TopicOptions TopicOverflow Users',
    ),
  },
  inspect: {
    values: names(
      'Omitted VERSION answerInspector defaultLabel describeLine inspect inspectorFeed play readLine readLines record withoutContent writeLine',
    ),
    types: names(`
      InspectOptions InspectedPeer Inspection InspectorAnswerOptions InspectorBatch InspectorFeed InspectorLine Line PeersSource PlayOptions
      RecordOptions RecordedFrame RecordedSide Recording
    `),
  },
  inspector: {
    values: names('VERSION showInspector'),
    types: names('InspectOptions InspectorPanel PeersSource ShowInspectorOptions'),
  },
  vite: {
    values: names('VERSION rxmuxInspector'),
    types: names('RxmuxInspectorOptions RxmuxInspectorPlugin'),
  },
  nats: {
    values: names('VERSION natsBus natsLog'),
    types: names('NatsConnection NatsLogOptions'),
  },
  redis: {
    values: names('VERSION redisBus redisLog'),
    types: names('RedisClient RedisLogOptions RedisSentinel'),
  },
  uploads: {
    values: names('VERSION receiveUpload resumableUpload withProgress'),
    types: names('Resumable UploadStore'),
  },
  ipc: {
    values: names('VERSION ipcBus ipcLog'),
    types: names('MemoryLogOptions'),
  },
  otel: {
    values: names('VERSION instrument'),
    types: names('InstrumentOptions PeersSource'),
  },
  testing: {
    values: names('createPair createServer fakePeer frameMarbles peerFromMarbles printMarbles replay virtualTime'),
    types: names(
      'ContractPair ContractPairOptions ContractRow FakeCall FakePeer FakePeerOptions Fault FaultScript FrameLetters Link LinkMessage MarblePeer Pair PairOptions RecordedSide Replay ReplayOptions Side TestServer TestServerOptions RowValue VirtualTime',
    ),
  },
};
