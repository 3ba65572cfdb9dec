import ArgumentParser

/// How pushes travel. Each flag is the `ScenarioKey` of its name.
package struct TransportFlags: ParsableArguments {
    package init() {}

    @Option(name: .customLong("engine"), help: .of("engine"))
    package var engine: String?

    @Option(name: .customLong("target"), help: .of("target", "url"))
    package var target: [String] = []

    @Option(name: .customLong("allow-target"), help: .of("allowed_targets", "host"))
    package var allowTarget: [String] = []

    @Flag(name: .customLong("plaintext"), inversion: .prefixedNo, help: .of("plaintext"))
    package var plaintext: Bool?

    @Option(name: .customLong("mock-threads"), help: .of("mock_threads", "count"))
    package var mockThreads: String?

    @Option(name: .customLong("rtt"), help: .of("rtt", "text"))
    package var rtt: String?

    @Option(name: .customLong("mock-flags"), parsing: .unconditional, help: .of("mock_flags", "flags"))
    package var mockFlags: String?

    @Option(name: .customLong("device-model"), help: .of("device_model", "model"))
    package var deviceModel: String?

    @Option(name: .customLong("device-backend"), help: .of("device_backend", "url"))
    package var deviceBackend: String?

    @Option(name: .customLong("backend-flags"), parsing: .unconditional, help: .of("backend_flags", "flags"))
    package var backendFlags: String?

    @Option(name: .customLong("device-wait"), help: .of("device_wait", "duration"))
    package var deviceWait: String?

    @Option(name: .customLong("send-batch"), help: .of("send_batch", "size"))
    package var sendBatch: String?

    @Option(name: .customLong("read-batch"), help: .of("read_batch", "duration"))
    package var readBatch: String?

    @Option(name: .customLong("stream-window"), help: .of("stream_window", "size"))
    package var streamWindow: String?

    @Option(name: .customLong("connection-window"), help: .of("connection_window", "size"))
    package var connectionWindow: String?

    @Option(name: .customLong("header-table"), help: .of("header_table", "size"))
    package var headerTable: String?

    @Option(name: .customLong("encoder-table"), help: .of("encoder_table", "size"))
    package var encoderTable: String?

    @Flag(name: .customLong("huffman"), inversion: .prefixedNo, help: .of("huffman"))
    package var huffman: Bool?

    @Option(name: .customLong("max-frame"), help: .of("max_frame", "size"))
    package var maxFrame: String?

    @Option(name: .customLong("tls-min"), help: .of("tls_min"))
    package var tlsMin: String?

    @Option(name: .customLong("tls-max"), help: .of("tls_max"))
    package var tlsMax: String?

    @Option(name: .customLong("ciphers"), help: .of("ciphers", "text"))
    package var ciphers: String?

    @Option(name: .customLong("ciphersuites"), help: .of("ciphersuites", "text"))
    package var ciphersuites: String?

    @Flag(name: .customLong("nodelay"), inversion: .prefixedNo, help: .of("nodelay"))
    package var nodelay: Bool?

    @Flag(name: .customLong("ktls"), inversion: .prefixedNo, help: .of("ktls"))
    package var ktls: Bool?

    @Option(name: .customLong("socket-send-buffer"), help: .of("socket_send_buffer", "size"))
    package var socketSendBuffer: String?

    @Option(name: .customLong("socket-receive-buffer"), help: .of("socket_receive_buffer", "size"))
    package var socketReceiveBuffer: String?

    @Option(name: .customLong("timeout"), help: .of("timeout", "duration"))
    package var timeout: String?

    @Option(name: .customLong("connect-timeout"), help: .of("connect_timeout", "duration"))
    package var connectTimeout: String?

    @Option(name: .customLong("ping-interval"), help: .of("ping_interval", "duration"))
    package var pingInterval: String?

    @Option(name: .customLong("ping-timeout"), help: .of("ping_timeout", "duration"))
    package var pingTimeout: String?

    @Option(name: .customLong("give-up-after"), help: .of("give_up_after", "duration"))
    package var giveUpAfter: String?

    @Option(name: .customLong("reconnect-delay"), help: .of("reconnect_delay", "duration"))
    package var reconnectDelay: String?

    @Option(name: .customLong("reconnect-delay-max"), help: .of("reconnect_delay_max", "duration"))
    package var reconnectDelayMax: String?

    @Option(name: .customLong("retry-limit"), help: .of("retry_limit", "count"))
    package var retryLimit: String?

    @Option(name: .customLong("retry"), help: .of("retry", "outcomes"))
    package var retry: String?

    @Option(name: .customLong("retry-attempts"), help: .of("retry_attempts", "count"))
    package var retryAttempts: String?

    @Option(name: .customLong("retry-backoff"), help: .of("retry_backoff", "duration"))
    package var retryBackoff: String?

    @Option(name: .customLong("retry-budget"), help: .of("retry_budget", "share"))
    package var retryBudget: String?

    /// The flags that were given, by key.
    package var given: [(key: String, texts: [String]?)] {
        [
            ("engine", engine.map { [$0] }),
            ("target", target.isEmpty ? nil : target),
            ("allowed_targets", allowTarget.isEmpty ? nil : allowTarget),
            ("plaintext", plaintext.map { [String($0)] }),
            ("mock_threads", mockThreads.map { [$0] }),
            ("rtt", rtt.map { [$0] }),
            ("mock_flags", mockFlags.map { [$0] }),
            ("device_model", deviceModel.map { [$0] }),
            ("device_backend", deviceBackend.map { [$0] }),
            ("backend_flags", backendFlags.map { [$0] }),
            ("device_wait", deviceWait.map { [$0] }),
            ("send_batch", sendBatch.map { [$0] }),
            ("read_batch", readBatch.map { [$0] }),
            ("stream_window", streamWindow.map { [$0] }),
            ("connection_window", connectionWindow.map { [$0] }),
            ("header_table", headerTable.map { [$0] }),
            ("encoder_table", encoderTable.map { [$0] }),
            ("huffman", huffman.map { [String($0)] }),
            ("max_frame", maxFrame.map { [$0] }),
            ("tls_min", tlsMin.map { [$0] }),
            ("tls_max", tlsMax.map { [$0] }),
            ("ciphers", ciphers.map { [$0] }),
            ("ciphersuites", ciphersuites.map { [$0] }),
            ("nodelay", nodelay.map { [String($0)] }),
            ("ktls", ktls.map { [String($0)] }),
            ("socket_send_buffer", socketSendBuffer.map { [$0] }),
            ("socket_receive_buffer", socketReceiveBuffer.map { [$0] }),
            ("timeout", timeout.map { [$0] }),
            ("connect_timeout", connectTimeout.map { [$0] }),
            ("ping_interval", pingInterval.map { [$0] }),
            ("ping_timeout", pingTimeout.map { [$0] }),
            ("give_up_after", giveUpAfter.map { [$0] }),
            ("reconnect_delay", reconnectDelay.map { [$0] }),
            ("reconnect_delay_max", reconnectDelayMax.map { [$0] }),
            ("retry_limit", retryLimit.map { [$0] }),
            ("retry", retry.map { [$0] }),
            ("retry_attempts", retryAttempts.map { [$0] }),
            ("retry_backoff", retryBackoff.map { [$0] }),
            ("retry_budget", retryBudget.map { [$0] }),
        ]
    }
}
