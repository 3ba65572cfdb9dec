/// The counts in Prometheus' text format (version 0.0.4).
enum Metrics {
    static func text(_ stats: StatsDocument) -> String {
        var text = ""
        func metric(_ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: String)]) {
            guard !samples.isEmpty else { return }
            text += "# HELP mock_apns_\(name) \(help)\n# TYPE mock_apns_\(name) \(type)\n"
            for sample in samples { text += "mock_apns_\(name)\(sample.labels) \(sample.value)\n" }
        }
        func plain(_ value: some CustomStringConvertible) -> [(labels: String, value: String)] {
            [("", value.description)]
        }
        func by(_ label: String, _ values: [String: UInt64]) -> [(labels: String, value: String)] {
            values.sorted { $0.key < $1.key }.map { ("{\(label)=\(quoted($0.key))}", String($0.value)) }
        }
        metric("requests_total", "counter", "Pushes received.", plain(stats.requests))
        metric("accepted_total", "counter", "Pushes answered 200.", plain(stats.accepted))
        metric("rejected_total", "counter", "Pushes rejected, by reason.", by("reason", stats.reasons))
        metric("responses_total", "counter", "Answers, by HTTP status.", by("status", stats.statuses))
        metric("silenced_total", "counter", "Pushes never answered, by a fault rule.", plain(stats.silenced))
        metric("reset_total", "counter", "Pushes answered by RST_STREAM, by a fault rule.", plain(stats.reset))
        metric("accepted_by_push_type_total", "counter", "Accepted, by push type.", by("push_type", stats.pushTypes))
        metric(
            "accepted_by_topic_total", "counter", "Accepted, by topic.", by("topic", stats.topics.mapValues(\.accepted))
        )
        metric(
            "rejected_by_topic_total", "counter", "Rejected, by topic.", by("topic", stats.topics.mapValues(\.rejected))
        )
        metric("channel_requests_total", "counter", "Channel requests and broadcasts.", plain(stats.channelRequests))
        metric("connections_open", "gauge", "Connections open.", plain(stats.connections.open))
        metric("connections_accepted_total", "counter", "Connections accepted.", plain(stats.connections.accepted))
        metric(
            "handshakes_failed_total", "counter", "Connections that ended before HTTP/2.",
            plain(stats.connections.handshakesFailed))
        metric("delivered_total", "counter", "Pushes given to devices.", plain(stats.delivery.delivered))
        metric("stored_waiting", "gauge", "Pushes stored for devices that are offline.", plain(stats.delivery.waiting))
        metric("event_subscribers", "gauge", "Event streams attached.", plain(stats.events.subscribers))
        metric("events_dropped_total", "counter", "Events not shown to slow subscribers.", plain(stats.events.dropped))
        metric("resident_memory_bytes", "gauge", "Resident memory.", plain(stats.memory.now))
        metric("cpu_seconds_total", "counter", "CPU time of all threads.", plain(Double(stats.cpuNanoseconds) * 1e-9))
        return text
    }

    /// A label's value: backslash, quote and line end escaped.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.append(character)
            }
        }
        return result + "\""
    }
}
