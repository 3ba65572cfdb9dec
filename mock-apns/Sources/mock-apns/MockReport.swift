import Foundation
import Measurement
import MockAPNs
import Payloads
import Scenarios

/// What the mock counted, for people and for machines.
struct MockReport: Encodable {
    struct Ledger: Encodable {
        let run: String
        let delivered: UInt64
        let duplicated: UInt64
        let outOfRange: UInt64

        enum CodingKeys: String, CodingKey {
            case run, delivered, duplicated
            case outOfRange = "out_of_range"
        }
    }

    enum CodingKeys: String, CodingKey {
        case event, requests, accepted, rejected, reasons, untracked, ledgers, allocations
        case connectionsAccepted = "connections_accepted"
        case connectionsOpen = "connections_open"
        case handshakesFailed = "handshakes_failed"
        case cpuNanoseconds = "cpu_ns"
        case peakMemory = "max_rss_bytes"
    }

    let event = "counts"
    let requests: UInt64
    let accepted: UInt64
    let rejected: UInt64
    let reasons: [String: UInt64]
    let connectionsAccepted: UInt64
    let connectionsOpen: UInt64
    let handshakesFailed: UInt64
    let untracked: UInt64
    let ledgers: [Ledger]
    let cpuNanoseconds: UInt64
    let peakMemory: UInt64
    let allocations: UInt64?

    init(_ server: MockServer) {
        let counts = server.counts
        requests = counts.requests
        accepted = counts.accepted
        rejected = counts.rejected
        reasons = counts.reasons
        connectionsAccepted = counts.connectionsAccepted
        connectionsOpen = counts.connectionsOpen
        handshakesFailed = counts.handshakesFailed
        untracked = counts.untracked
        ledgers = server.book.runs.map {
            Ledger(
                run: RunID($0.run).description, delivered: $0.ledger.delivered, duplicated: $0.ledger.duplicated,
                outOfRange: $0.ledger.outOfRange)
        }
        let cost = ProcessCost.sample()
        cpuNanoseconds = cost?.cpu ?? 0
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
}
