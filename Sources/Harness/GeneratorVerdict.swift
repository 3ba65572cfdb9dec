import Measurement
import Networking
import Results
import Settings
import Transport

/// Whether the generator itself, rather than its target, set the limit of a run.
struct GeneratorVerdict {
    private let outcome: LoadOutcome
    private let isOpenLoop: Bool
    private let usesMock: Bool
    /// Threads that send and, of the bundled mock, answer.
    private let threads: Int
    private let cores: Int
    /// A further thread would share a core that one is pinned to.
    private let needsPin: Bool
    /// Several are pinned to one.
    private let sharesPins: Bool

    /// A worker thread this busy has no room left.
    static let busyLoad = 0.95
    /// An event loop this late is noticed in the latencies, ns (99th percentile).
    static let noticedLag: UInt64 = 1_000_000
    /// A worker thread that waits for a core so much of the time is starved.
    static let noticedRunQueueDelay = 0.05
    /// So much of the machine gone to others makes times doubtful.
    static let noticedSteal = 0.05

    /// - Parameter cores: that this process may use.
    init(_ outcome: LoadOutcome, inputs: RunInputs, cores: Int = CoreAffinity.allowed().count) {
        self.outcome = outcome
        isOpenLoop = inputs.schedule != nil
        usesMock = inputs.scenario.target == nil
        threads = inputs.scenario.threads + (usesMock ? inputs.scenario.mockThreads : 0)
        self.cores = cores
        let pinned = inputs.scenario.pins?.cores.count
        needsPin = pinned.map { $0 <= inputs.scenario.threads } ?? false
        sharesPins = pinned.map { $0 < inputs.scenario.threads } ?? false
    }

    private var reasons: [String] {
        var reasons: [String] = []
        if let busiest = outcome.generator.workerLoad.first, busiest >= Self.busyLoad {
            reasons.append(
                "a worker thread was busy \(Units.fixed(busiest * 100, places: 0)) % of the time: "
                    + (threads < cores
                        ? "give more threads (-t) with connections\(needsPin ? " and cores (--pin)" : "") of their own"
                        : "no core is left for another (\(Units.counted(cores, "core")))"))
        }
        if let delay = outcome.generator.runQueueDelay, delay >= Self.noticedRunQueueDelay {
            reasons.append(
                "a worker thread waited for a core \(Units.fixed(delay * 100, places: 0)) % of the time: "
                    + (sharesPins
                        ? "several are pinned to one (--pin)"
                        : "other threads" + (usesMock ? ", the bundled mock's among them," : "") + " need the cores too")
            )
        }
        let lag = outcome.loopLag.summary
        if lag.count >= 100, lag.p99 >= Self.noticedLag {
            reasons.append(
                "pushes left late although streams were free: p99 \(Units.duration(nanoseconds: Double(lag.p99)))")
        }
        let overflowed = outcome.measurements.notSent[FailureCause.overflowed.index]
        let own = outcome.generator.overflowed ?? 0
        if own > 0, own >= overflowed / 2 {
            reasons.append(
                "\(Units.counted(own, "push")) overflowed the backlog while a worker thread stood still or was busy"
            )
        }
        if outcome.generator.steal >= Self.noticedSteal {
            reasons.append(
                "\(Units.fixed(outcome.generator.steal * 100, places: 1)) % of the machine's CPU time went to other virtual machines"
            )
        }
        return reasons
    }

    /// The client's CPU time a push by what it went to. Encoding and signing are timed in samples; TLS is what the calls that
    /// read and write took besides the socket calls in them. `other` is the rest of the whole: epoll, frames, measuring, other
    /// threads.
    private var cpu: ResultDocument.Generator.CPU {
        let counts = outcome.measurements.counts
        let answered = Double(counts.accepted + counts.rejected)
        guard answered > 0 else { return .init() }
        func perPush(_ time: UInt64) -> Double { (Double(time) / answered * 10).rounded() / 10 }
        let time = outcome.workerTime
        let encode = outcome.measurements[.encode].summary
        // As far as there is any left: a sample may have been of slow ones.
        var left = outcome.cpu
        func part(_ nanoseconds: Double) -> Double {
            let part = min(left, UInt64(max(0, min(nanoseconds, 1e18))))
            left -= part
            return perPush(part)
        }
        let spin = part(Double(time.spin) * time.onCore)
        let socket = part(Double(time.socket) * time.onCore)
        let tls = part(Double(time.transfer - min(time.transfer, time.socket)) * time.onCore)
        let encoded = part(encode.count > 0 ? encode.mean * Double(counts.sent) * time.onCore : 0)
        let signed = part(Double(time.sign) * time.onCore)
        return .init(encode: encoded, sign: signed, tls: tls, socket: socket, spin: spin, other: perPush(left))
    }

    var section: ResultDocument.Generator {
        var section = outcome.generator
        section.reasons = reasons
        section.limited = !section.reasons.isEmpty
        section.loopLag = .init(outcome.loopLag.summary)
        section.workerLoad = section.workerLoad.map { ($0 * 1000).rounded() / 1000 }
        section.runQueueDelay = section.runQueueDelay.map(RunDocument.share)
        section.spin = RunDocument.share(section.spin)
        section.steal = RunDocument.share(section.steal)
        section.cpu = cpu
        return section
    }
}
