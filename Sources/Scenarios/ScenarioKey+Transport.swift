import Settings

/// Who sends, where to and how.
extension ScenarioKey {
    static let who: [ScenarioKey] = [
        optional(
            "credentials", "Folder with AuthKey.p8, credentials.json and ca.pem, as mock-apns --credentials makes it.",
            example: "credentials", \.credentials),
        optional("key", "File of the provider key (.p8).", example: "AuthKey.p8", \.key),
        optional("key_id", "Key id of --key, 10 characters.", example: "ABC123DEFG", \.keyID),
        optional("team_id", "Team id of --key, 10 characters.", example: "TEAM567890", \.teamID),
        optional(
            "cert", "File of a client certificate (PEM): certificate authentication instead of tokens.",
            example: "client.pem", \.cert),
        optional("cert_key", "File of the client certificate's key (PEM).", example: "client-key.pem", \.certKey),
        optional("cacert", "Trust the certificate authorities in this file (PEM).", example: "ca.pem", \.cacert),
        flag("no_auth", "Send no authorization at all.", \.noAuth),
        text(
            "sign_policy", "When provider tokens are signed: cached[:50m], per-connection, every:N or per-push.",
            \.signPolicy),
    ]

    static let transport: [ScenarioKey] = [
        choice(
            "engine", Scenario.engines,
            "wire (frames written by pushload) or nghttp2.", \.engine),
        ScenarioKey(
            "target", .list,
            "URL to send to, or @FILE with a URL a line; several times: connections are spread over all of them; without it, the bundled mock is started.",
            example: "https://127.0.0.1:2197",
            write: { scenario in
                scenario.target.flatMap { $0.urls.count == 1 ? $0.urls[0] : listed($0.urls.map(written)) }
            }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.target = try TargetList.read(texts)
        },
        ScenarioKey(
            "allowed_targets", .list, "A host other than this machine that may be sent to, because it is yours.",
            example: "[push.test.example.com]", write: { listed($0.allowedTargets) }
        ) { (scenario, texts) throws(SettingsError) in
            let hosts = words(texts)
            for host in hosts where host.contains("/") || host.count(where: { $0 == ":" }) == 1 {
                throw SettingsError(
                    "\"\(host)\": expected a host without scheme and port, such as push.test.example.com")
            }
            scenario.allowedTargets = hosts
        },
        flag("plaintext", "Plaintext HTTP/2 with prior knowledge to the bundled mock.", \.plaintext),
        whole("mock_threads", Scenario.Limits.mockThreads, "Threads of the bundled mock.", \.mockThreads),
        ScenarioKey(
            "rtt", .duration, "Round-trip time of the link the bundled mock emulates, such as 80ms.", example: "80ms",
            write: { $0.rtt }
        ) { (scenario, texts) throws(SettingsError) in
            _ = try read(texts, Units.duration)
            scenario.rtt = texts[0]
        },
        optional(
            "mock_flags", "More flags of the bundled mock, as mock-apns serve --help lists them.",
            example: "--latency 20ms", \.mockFlagText),
        ScenarioKey(
            "device_model", .text,
            "What devices of the bundled mock do with pushes: on (the bundled model), a file (docs/devices.md), or off (nothing).",
            example: "on", write: { $0.deviceModel }
        ) { (scenario, texts) throws(SettingsError) in
            let text = try one(texts)
            guard ["on", "off"].contains(text) || ScenarioKey.named("device_model")?.isWord(text) != true else {
                throw SettingsError("\"\(text)\": expected on, off, or a file")
            }
            scenario.deviceModel = text == "off" ? nil : text
        },
        optional(
            "device_backend",
            "URL of the backend that these devices ask; without it, the bundled one is started.",
            example: "http://127.0.0.1:8080", \.deviceBackend),
        optional(
            "backend_flags", "More flags of the bundled backend, as mock-apns backend --help lists them.",
            example: "--latency 20ms", \.backendFlagText),
        duration(
            "device_wait",
            "After the last push: how long devices that still fetch, decrypt or are about to show something are waited for.",
            range: "at most 1h", \.deviceWait),
        bytes(
            "send_batch", Scenario.Limits.sendBatch,
            "Bytes gathered before they are written, as TLS records of 16384 in one send.", \.sendBatch),
        duration(
            "read_batch",
            "Let answers gather for so long before they are read, while nothing is due: for servers that answer one by one. Latencies may be so much longer.",
            range: "0s (off) to 10ms", \.readBatch),
        bytes(
            "stream_window", Scenario.Limits.streamWindow, "Flow-control window of each stream towards us.",
            \.streamWindow),
        bytes(
            "connection_window", Scenario.Limits.connectionWindow, "Flow-control window of each connection towards us.",
            \.connectionWindow),
        bytes(
            "header_table", Scenario.Limits.headerTable, "HPACK table we offer for answers.", \.headerTableSize),
        bytes(
            "encoder_table", Scenario.Limits.encoderTable,
            "HPACK table we use for requests, as far as the peer allows.", \.encoderTableSize),
        flag(
            "huffman", "Engine wire: code header strings with Huffman where that makes them shorter.", \.huffman),
        bytes(
            "max_frame", Scenario.Limits.maxFrame, "Largest frame we take.", \.maxFrameSize),
        choice("tls_min", ["1.2", "1.3"], "Oldest TLS version.", \.tlsMinimum),
        choice("tls_max", ["1.2", "1.3"], "Newest TLS version.", \.tlsMaximum),
        optional("ciphers", "OpenSSL cipher list for TLS 1.2.", example: "ECDHE-ECDSA-AES128-GCM-SHA256", \.ciphers),
        optional(
            "ciphersuites", "OpenSSL cipher suites for TLS 1.3.", example: "TLS_AES_128_GCM_SHA256", \.ciphersuites),
        flag("nodelay", "TCP_NODELAY.", \.noDelay),
        flag("ktls", "Let the kernel seal and open TLS records (kTLS), where it can.", \.kernelTLS),
        ScenarioKey(
            "socket_send_buffer", .bytes, "SO_SNDBUF; without it, the kernel's own tuning.", example: "1MiB",
            write: { $0.socketSendBuffer.map(Units.written(bytes:)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.socketSendBuffer = try read(texts, Units.bytes)
        },
        ScenarioKey(
            "socket_receive_buffer", .bytes, "SO_RCVBUF; without it, the kernel's own tuning.", example: "1MiB",
            write: { $0.socketReceiveBuffer.map(Units.written(bytes:)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.socketReceiveBuffer = try read(texts, Units.bytes)
        },
        duration(
            "timeout",
            "A push unanswered for so long has failed; looked for each 20 ms (up to 0.5 s with more than 512 connections a worker), a shorter time each quarter of it.",
            range: "above 0", \.pushTimeout),
        duration(
            "connect_timeout", "TCP, TLS and SETTINGS must be there after so long.", range: "above 0", \.connectTimeout),
        duration("ping_interval", "Ask a silent connection with PING after so long.", \.pingInterval),
        duration("ping_timeout", "No byte for so long after a PING: the peer has vanished.", \.pingTimeout),
        duration("give_up_after", "With no connection for so long, all that is left has failed.", \.giveUpAfter),
        duration(
            "reconnect_delay",
            "After two failed attempts a connection waits a random time of up to this before the next; doubles with each further failure, not while the connection is refused.",
            range: "at most 1h", \.reconnectDelay),
        duration(
            "reconnect_delay_max",
            "Bound of that wait, however many attempts have failed.",
            range: "at most 1h", \.reconnectDelayMax),
        whole(
            "retry_limit", Scenario.Limits.retryLimit, "How often a push that was refused unprocessed is sent again.",
            \.retryLimit),
        ScenarioKey("retry", .text, "What else is sent again: off, or some of 429,5xx,connection.", write: { $0.retry })
        {
            (scenario, texts) throws(SettingsError) in
            let text = texts.joined(separator: ",")
            _ = try RetryPolicy(parsing: text)
            scenario.retry = text
        },
        count("retry_attempts", "How often one push is sent again for --retry, at most.", \.retryAttempts),
        duration(
            "retry_backoff", "The first wait before it is; it doubles each time, less a random half.", \.retryBackoff),
        ScenarioKey(
            "retry_budget", .text,
            "Retries for --retry at most this share of the pushes sent, but 10 a thread unless it is 0%.",
            range: "0% to 100%",
            write: { scenario in
                // No digits that come of the division.
                let percent = (scenario.retryBudget * 1e8).rounded() / 1e6
                return percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
            }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.retryBudget = try read(texts, Units.share)
        },
    ]
}
