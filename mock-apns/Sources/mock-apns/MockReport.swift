import Echo
import Foundation
import Measurement
import MockAPNs
import Payloads
import Settings

/// What the mock counted, for people and for machines.
struct MockReport: Encodable {
    enum CodingKeys: String, CodingKey {
        case event, requests, accepted, rejected, silenced, reset, scripted, unhandled, abandoned, reasons, untracked,
            ledgers,
            allocations
        case delivery, devices, echo
        case channelRequests = "channel_requests"
        case channelScripted = "channel_scripted"
        case channelReasons = "channel_reasons"
        case pushTypes = "push_types"
        case connectionsAccepted = "connections_accepted"
        case connectionsOpen = "connections_open"
        case handshakesFailed = "handshakes_failed"
        case cpuNanoseconds = "cpu_ns"
        case handshakeTime = "handshake_cpu_ns"
        case peakMemory = "max_rss_bytes"
    }

    let event = "counts"
    let requests: UInt64
    let accepted: UInt64
    let rejected: UInt64
    /// By a fault rule: never answered though delivered; answered by RST_STREAM.
    let silenced: UInt64
    let reset: UInt64
    /// By a fault rule: answered as it says, other than with 200; neither handled nor answered.
    let scripted: UInt64
    let unhandled: UInt64
    let abandoned: UInt64
    let reasons: [String: UInt64]
    let pushTypes: [String: UInt64]
    let channelRequests: UInt64
    let channelScripted: UInt64
    let channelReasons: [String: UInt64]
    let delivery: DeliveryCounts
    /// nil: there is no device model.
    let devices: DeviceFigures?
    /// nil: devices have no backend.
    let echo: EchoFigures?
    let connectionsAccepted: UInt64
    let connectionsOpen: UInt64
    let handshakesFailed: UInt64
    let untracked: UInt64
    let ledgers: [LedgerEntry]
    let cpuNanoseconds: UInt64
    /// Of it for the handshakes of connections.
    let handshakeTime: UInt64
    let peakMemory: UInt64
    let allocations: UInt64?

    init(_ server: MockServer) {
        let counts = server.counts
        requests = counts.requests
        accepted = counts.accepted
        rejected = counts.rejected
        silenced = counts.silenced
        reset = counts.reset
        scripted = counts.scripted
        unhandled = counts.unhandled
        abandoned = counts.abandoned
        reasons = counts.reasons
        pushTypes = counts.pushTypes
        channelRequests = counts.channelRequests
        channelScripted = counts.channelScripted
        channelReasons = counts.channelReasons
        delivery = server.deliveryCounts
        devices = server.deviceFigures
        echo = server.echoFigures
        connectionsAccepted = counts.connectionsAccepted
        connectionsOpen = counts.connectionsOpen
        handshakesFailed = counts.handshakesFailed
        untracked = counts.untracked
        ledgers = server.book.runs.map(LedgerEntry.init)
        let cost = ProcessCost.sample()
        cpuNanoseconds = cost?.cpu ?? 0
        handshakeTime = counts.handshakeTime
        peakMemory = cost?.peakMemory ?? 0
        allocations = AllocationCount.current()
    }

    /// One line.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    var text: String {
        var lines = [
            "requests \(Units.grouped(requests)): accepted \(Units.grouped(accepted)), rejected \(Units.grouped(rejected))"
        ]
        for (name, count) in reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("  \(name) \(Units.grouped(count))")
        }
        if silenced > 0 { lines.append("  never answered, by a fault rule \(Units.grouped(silenced))") }
        if reset > 0 { lines.append("  answered by RST_STREAM, by a fault rule \(Units.grouped(reset))") }
        if scripted > 0 { lines.append("  answered as a fault rule says \(Units.grouped(scripted))") }
        if unhandled > 0 { lines.append("  not handled, by a fault rule \(Units.grouped(unhandled))") }
        if abandoned > 0 { lines.append("  ended while the answer waited \(Units.grouped(abandoned))") }
        if channelRequests > 0 {
            let rejected = channelReasons.values.reduce(0, +)
            lines.append(
                "channel requests and broadcasts \(Units.grouped(channelRequests))"
                    + (channelScripted > 0 ? ", by a fault rule's hand \(Units.grouped(channelScripted))" : "")
                    + (rejected > 0 ? ", rejected \(Units.grouped(rejected)): \(Self.listed(channelReasons))" : ""))
        }
        if delivery.stored > 0 || delivery.throttled > 0 || delivery.grouped > 0 {
            lines.append(
                "stored for devices that were offline \(Units.grouped(delivery.stored)): "
                    + "delivered later \(Units.grouped(delivery.deliveredLate)), "
                    + "replaced \(Units.grouped(delivery.replaced)), collapsed \(Units.grouped(delivery.collapsed)), "
                    + "expired \(Units.grouped(delivery.expired)), waiting \(Units.grouped(delivery.waiting))")
        }
        if delivery.discarded > 0 {
            lines.append("discarded, notifications are disabled: \(Units.grouped(delivery.discarded))")
        }
        if let devices { lines += Self.lines(devices) }
        if let echo { lines += EchoReport.lines(echo) }
        lines.append(
            "connections accepted \(connectionsAccepted), open \(connectionsOpen), "
                + "failed before HTTP/2 \(handshakesFailed)")
        for ledger in ledgers {
            lines.append(
                "run \(ledger.run): \(Units.grouped(ledger.delivered)) different pushes, "
                    + "\(Units.grouped(ledger.duplicated)) repeated")
        }
        if untracked > 0 { lines.append("accepted without a trace tag: \(Units.grouped(untracked))") }
        lines.append(
            "CPU \(Units.duration(nanoseconds: Double(cpuNanoseconds))), peak memory \(Units.bytes(peakMemory))")
        return lines.joined(separator: "\n")
    }

    /// Those that there were, most first.
    static func listed(_ counts: [String: UInt64]) -> String {
        counts.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.key) \(Units.grouped($0.value))" }.joined(separator: ", ")
    }

    private static func lines(_ devices: DeviceFigures) -> [String] {
        var lines = [
            "given to devices \(Units.grouped(devices.received))"
                + (devices.received > 0 ? ": \(listed(devices.outcomes))" : ""),
            "  devices touched \(Units.grouped(UInt64(devices.touched)))",
        ]
        let (events, requests) = (listed(devices.events), listed(devices.requestsFailed ?? [:]))
        if !events.isEmpty { lines.append("  events: \(events)") }
        if !requests.isEmpty { lines.append("  requests of devices that failed for want of a backend: \(requests)") }
        return lines
    }
}
