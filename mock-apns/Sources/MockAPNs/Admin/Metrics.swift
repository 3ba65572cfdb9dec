import PlainHTTP
import Signing

/// The counts as `GET /metrics` shows them.
enum Metrics {
    static func text(_ stats: StatsDocument) -> String {
        var page = MetricsText(prefix: "mock_apns_")
        func count(_ name: String, _ help: String, _ value: UInt64) { page.add(.counter, name, help, Double(value)) }
        func gauge(_ name: String, _ help: String, _ value: some BinaryInteger) {
            page.add(.gauge, name, help, Double(value))
        }
        count("requests_total", "Pushes received.", stats.requests)
        count("accepted_total", "Pushes answered 200.", stats.accepted)
        page.add(.counter, "rejected_total", "Pushes rejected, by reason.", by: "reason", stats.reasons)
        page.add(.counter, "responses_total", "Answers, by HTTP status.", by: "status", stats.statuses)
        count("silenced_total", "Pushes never answered, by a fault rule.", stats.silenced)
        count("reset_total", "Pushes answered by RST_STREAM, by a fault rule.", stats.reset)
        count("scripted_total", "Pushes answered as a fault rule says, other than with 200.", stats.scripted)
        count("unhandled_total", "Pushes neither handled nor answered, by a fault rule.", stats.unhandled)
        count(
            "abandoned_total", "Pushes whose stream or connection ended while the answer waited, by a fault rule.",
            stats.abandoned)
        page.add(
            "answer_seconds",
            "The first bytes of a push being read to its answer being written to the socket, or given to the emulated link.",
            [([], stats.answerTimes)])
        page.add(.counter, "accepted_by_push_type_total", "Accepted, by push type.", by: "push_type", stats.pushTypes)
        func byTopic(_ name: String, _ help: String, _ count: (StatsDocument.Outcomes) -> UInt64) {
            let counts = stats.topics.map { (Self.shown($0), count($1)) }
            page.add(.counter, name, help, by: "topic", Dictionary(counts, uniquingKeysWith: +))
        }
        byTopic("accepted_by_topic_total", "Accepted, by topic.", \.accepted)
        byTopic(
            "rejected_by_topic_total", "Not accepted, with a reason or as a fault rule says, by topic.", \.rejected)
        count("channel_requests_total", "Channel requests and broadcasts.", stats.channelRequests)
        count(
            "channel_scripted_total",
            "Channel requests and broadcasts that a fault rule answered by hand, other than with 2xx, or not at all.",
            stats.channelScripted)
        page.add(
            .counter, "channel_requests_rejected_total", "Channel requests and broadcasts rejected, by reason.",
            by: "reason", stats.channelReasons)
        gauge("in_flight", "Open streams: requests that are not answered yet.", stats.openStreams)
        gauge("connections_open", "Connections open.", stats.connections.open)
        count("connections_accepted_total", "Connections accepted.", stats.connections.accepted)
        count(
            "handshakes_failed_total", "Connections that ended before HTTP/2.", stats.connections.handshakesFailed)
        page.add(
            .counter, "bounds_total", "What clients were held to, by bound.", by: "bound",
            [
                "unread": stats.bounds.unread, "held_back": stats.bounds.heldBack,
                "crowded": stats.bounds.crowded, "oversized": stats.bounds.oversized, "slowed": stats.bounds.slowed,
                "cut_off": stats.bounds.cutOff,
            ])
        count("delivered_total", "Pushes given to devices.", stats.delivery.delivered)
        count("discarded_total", "Pushes discarded: notifications are disabled.", stats.delivery.discarded)
        gauge("stored_waiting", "Pushes stored for devices that are offline.", stats.delivery.waiting)
        if let devices = stats.devices {
            page.add(
                .gauge, "device_pushes", "Pushes at their devices, by outcome so far.", by: "outcome", devices.outcomes)
            page.add(
                .counter, "device_events_total", "What happened at devices, by event.", by: "event", devices.events)
            if let failed = devices.requestsFailed {
                page.add(
                    .counter, "device_requests_failed_total",
                    "Requests of devices that failed for want of a backend, by kind.", by: "kind", failed)
            }
            gauge(
                "device_pushes_settling", "Pushes whose screen or content is to come within seconds.", devices.settling)
            gauge("devices_touched", "Devices that something has happened to.", devices.touched)
        }
        if let echo = stats.echo { EchoMetrics.add(echo, to: &page) }
        gauge("event_subscribers", "Event streams attached.", stats.events.subscribers)
        count("events_dropped_total", "Events not shown to slow subscribers.", stats.events.dropped)
        gauge("resident_memory_bytes", "Resident memory.", stats.memory.now)
        page.add(.counter, "cpu_seconds_total", "CPU time of all threads.", Double(stats.cpuNanoseconds) * 1e-9)
        return page.text
    }

    /// A topic may be anything that a client sends: without control characters, and not longer than a topic can be.
    private static func shown(_ topic: String) -> String {
        String(TokenVerifier.quoted(topic, most: 255).dropFirst().dropLast())
    }
}
