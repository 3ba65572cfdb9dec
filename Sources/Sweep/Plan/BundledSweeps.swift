import Scenarios

/// Sweeps that come with pushload, by name; each takes a minute or two on two cores.
enum BundledSweeps {
    typealias Entry = BundledScenarios.Entry

    static let all: [Entry] = [
        Entry(
            name: "connections-streams", summary: "connections × streams on this machine: how much in flight is enough",
            text: """
                name: connections-streams
                duration: 500ms
                warmup: 100ms
                vary:
                  connections: 1..16x4
                  streams: 10,100,500,1000
                """),
        Entry(
            name: "far-links",
            summary: "streams × connections at 0, 20 and 80 ms round trip: where the link is the limit",
            text: """
                name: far-links
                duration: 1s
                warmup: 300ms
                vary:
                  rtt: 0ms,20ms,80ms
                  streams: 30,100,300,1000
                  connections: 1,4,16
                search:
                  repeat: 2
                """),
        Entry(
            name: "windows", summary: "the server's connection window × round trip: when flow control is the limit",
            text: """
                name: windows
                duration: 1s
                warmup: 300ms
                connections: 4
                vary:
                  rtt: 0ms,20ms,80ms
                  window:
                    - {label: 64KiB, mock_flags: --connection-window 64KiB}
                    - {label: 128KiB, mock_flags: --connection-window 128KiB}
                    - {label: 256KiB, mock_flags: --connection-window 256KiB}
                    - {label: 512KiB, mock_flags: --connection-window 512KiB}
                    - {label: 1MiB, mock_flags: --connection-window 1MiB}
                search:
                  repeat: 2
                """),
        Entry(
            name: "tls", summary: "TLS versions, ciphers and record sizes (what is written at once is one record)",
            text: """
                name: tls
                pushes: 200k
                streams: 500
                vary:
                  tls:
                    - {label: 1.2 AES-128, tls_max: 1.2, ciphers: ECDHE-ECDSA-AES128-GCM-SHA256}
                    - {label: 1.2 AES-256, tls_max: 1.2, ciphers: ECDHE-ECDSA-AES256-GCM-SHA384}
                    - {label: 1.2 ChaCha20, tls_max: 1.2, ciphers: ECDHE-ECDSA-CHACHA20-POLY1305}
                    - {label: 1.3 AES-128, tls_min: 1.3, ciphersuites: TLS_AES_128_GCM_SHA256}
                    - {label: 1.3 AES-256, tls_min: 1.3, ciphersuites: TLS_AES_256_GCM_SHA384}
                    - {label: 1.3 ChaCha20, tls_min: 1.3, ciphersuites: TLS_CHACHA20_POLY1305_SHA256}
                  send_batch: 1KiB,4KiB,16KiB
                search: {goal: cpu}
                """),
        Entry(
            name: "batch", summary: "bytes gathered before they are written",
            text: """
                name: batch
                pushes: 300k
                streams: 500
                vary:
                  send_batch: 256B..64KiBx2
                """),
        Entry(
            name: "engines", summary: "engines × streams",
            text: """
                name: engines
                pushes: 200k
                vary:
                  engine: wire,nghttp2
                  streams: 10,100,500,1000
                search: {goal: cpu}
                """),
        Entry(
            name: "sign-policies", summary: "how often provider tokens are signed",
            text: """
                name: sign-policies
                pushes: 20k
                streams: 500
                connections: 4
                vary:
                  sign_policy: [cached, per-connection, "every:1000", "every:100", "every:10", per-push]
                search: {goal: cpu}
                """),
    ]
}
