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
        let out_of_range: UInt64
    }

    let event = "counts"
    let requests: UInt64
    let accepted: UInt64
    let rejected: UInt64
    let reasons: [String: UInt64]
    let connections_accepted: UInt64
    let connections_open: UInt64
    let handshakes_failed: UInt64
    let untracked: UInt64
    let ledgers: [Ledger]
    let cpu_ns: UInt64
    let max_rss_bytes: UInt64
    let allocations: UInt64?

    init(_ server: MockServer) {
        let counts = server.counts
        requests = counts.requests
        accepted = counts.accepted
        rejected = counts.rejected
        reasons = counts.reasons
        connections_accepted = counts.connectionsAccepted
        connections_open = counts.connectionsOpen
        handshakes_failed = counts.handshakesFailed
        untracked = counts.untracked
        ledgers = server.book.runs.map {
            Ledger(
                run: RunID($0.run).description, delivered: $0.ledger.delivered, duplicated: $0.ledger.duplicated,
                out_of_range: $0.ledger.outOfRange)
        }
        let cost = ProcessCost.sample()
        cpu_ns = cost?.cpu ?? 0
        max_rss_bytes = cost?.peakMemory ?? 0
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
            "connections accepted \(connections_accepted), open \(connections_open), "
                + "failed before HTTP/2 \(handshakes_failed)")
        for ledger in ledgers {
            lines.append(
                "run \(ledger.run): \(Units.grouped(ledger.delivered)) different pushes, "
                    + "\(Units.grouped(ledger.duplicated)) repeated")
        }
        if untracked > 0 { lines.append("accepted without a trace tag: \(Units.grouped(untracked))") }
        lines.append(
            "CPU \(Units.duration(nanoseconds: Double(cpu_ns))), peak memory \(Units.bytes(max_rss_bytes))")
        return lines.joined(separator: "\n")
    }
}
