import Measurement
import Networking
import Results
import Scenarios
import Settings
import Transport

/// Whether the generator itself, rather than its target, set the limit of a run: only where it can have moved a figure that is printed
/// or judged by more than that is known to.
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
    /// What the generator's own lateness can have done to figures; nil: nothing. Where there is some it is among the reasons, and nobody
    /// has to say it again.
    let lateness: GeneratorEffect?

    /// A worker thread this busy has no room left.
    static let busyLoad = 0.95
    /// An event loop this late is noticed in the latencies, ns (99th percentile).
    static let noticedLag: UInt64 = 1_000_000
    /// A worker thread that waits for a core so much of the time is starved.
    static let noticedRunQueueDelay = 0.05
    /// Sent of what was due: less is called a rate that was not reached (`RateShortfall`).
    static let reachedRate = 0.9
    /// So much of the machine gone to others makes times doubtful.
    static let noticedSteal = 0.05

    /// - Parameter cores: that this process may use.
    init(_ outcome: LoadOutcome, inputs: RunInputs, cores: Int = CoreAffinity.allowed().count) {
        self.outcome = outcome
        isOpenLoop = inputs.schedule != nil
        usesMock = inputs.scenario.target == nil
        threads = inputs.scenario.threads + (usesMock ? inputs.scenario.mockThreads : 0)
        self.cores = cores
        let lag = outcome.loopLag.summary
        lateness =
            lag.count < 100 || lag.p99 < Self.noticedLag
            ? nil
            : GeneratorEffect(
                lag: outcome.loopLag, totals: outcome.measurements.totals.all, blocks: outcome.blocks,
                thresholds: inputs.scenario.parsedThresholds)
        let pinned = inputs.scenario.pins?.cores.count
        needsPin = pinned.map { $0 <= inputs.scenario.threads } ?? false
        sharesPins = pinned.map { $0 < inputs.scenario.threads } ?? false
    }

    /// Why a worker thread did not get on, what took most of its time; nil where nothing is known to have held it up.
    private var cause: String? {
        if outcome.generator.runQueueDelay == nil, let limit = reachedLimit { return limit }
        let (delay, steal) = (outcome.generator.runQueueDelay ?? 0, outcome.generator.steal)
        if steal >= Self.noticedSteal, steal > delay {
            return "\(Units.fixed(steal * 100, places: 1)) % of the machine's CPU time went to other virtual machines"
        }
        if delay >= Self.noticedRunQueueDelay {
            return
                "a worker thread waited for a core \(Units.fixed(delay * 100, places: 0)) % of the time: \(competitor)"
        }
        return busy
    }

    private var busy: String? {
        guard let busiest = outcome.generator.workerLoad.first, busiest >= Self.busyLoad else { return nil }
        return "a worker thread was busy \(Units.fixed(busiest * 100, places: 0)) % of the time: "
            + (threads < cores
                ? "give more threads (-t) with connections\(needsPin ? " and cores (--pin)" : "") of their own"
                : "no core is left for another (\(Units.counted(cores, "core")))")
    }

    /// What a worker thread waited for.
    private var competitor: String {
        if let limit = reachedLimit { return limit }
        if sharesPins { return "several are pinned to one (--pin)" }
        return "other threads" + (usesMock ? ", the bundled mock's among them," : "") + " need the cores too"
    }

    /// The container's CPU limit, where it was reached in a twentieth of its periods.
    private var reachedLimit: String? {
        guard let limit = outcome.generator.cpuLimit, limit.throttled > 0,
            Double(limit.throttled) >= Self.noticedRunQueueDelay * Double(limit.periods)
        else { return nil }
        return
            "the CPU limit of this container (cpu.stat: throttled \(Units.grouped(limit.throttled)) of "
            + "\(Units.counted(limit.periods, "period")))"
    }

    /// The share of the time in which the thread that was held up most could have sent and did not.
    private var heldUp: Double {
        let seconds = outcome.run.durationSeconds
        // The time stopped is that of all cores: it may be more than our threads have.
        let limited = outcome.generator.cpuLimit.map {
            seconds > 0 ? $0.seconds / seconds / Double(max(1, threads)) : 0
        }
        return min(1, max(outcome.generator.runQueueDelay ?? limited ?? 0, outcome.generator.steal))
    }

    /// One sentence: the cause, and what it did to figures that are printed or judged. Nothing of what moves them by less than they are
    /// known to.
    private var reasons: [String] {
        var effects: [String] = []
        if let late { effects.append(late) }
        let overflowed = outcome.measurements.notSent[FailureCause.overflowed.index]
        let own = outcome.generator.overflowed ?? 0
        if own > 0, own >= overflowed / 2 {
            effects.append(
                "\(Units.counted(own, "push")) overflowed the backlog while a worker thread stood still or was busy")
        }
        if !effects.isEmpty { return [([cause].compactMap { $0 } + effects).joined(separator: "; ")] }
        // A thread that has no room left limits every figure.
        if let busy { return [busy] }
        // An open loop that reached its rate tells by its lateness.
        let isShort = outcome.throughput.offered.map { outcome.throughput.sent < Self.reachedRate * $0 } ?? false
        guard let cause,
            isShort
                ? heldUp >= GeneratorEffect.tolerance
                : !isOpenLoop && GeneratorEffect.isRateMoved(by: heldUp, outcome.blocks)
        else { return [] }
        return ["\(cause); the rate may be up to \(Units.fixed(heldUp * 100, places: 0)) % low"]
    }

    /// Pushes that left late by the generator's own fault, where that can have moved a figure.
    private var late: String? {
        lateness.map {
            let time = Units.duration(nanoseconds: Double(outcome.loopLag.summary.p99))
            return "pushes left late although streams were free (p99 \(time)): \($0.words)"
        }
    }

    /// The client's CPU time a push by what it went to. Encoding is timed in samples, so short that a thread hardly ever loses its core
    /// in one: its mean is that of the latency `encode`. TLS is what the calls that read and write took besides the socket calls in
    /// them. `other` is the rest of the whole: epoll, frames, measuring, other threads.
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
        let encoded = part(encode.count > 0 ? encode.mean * answered : 0)
        let spin = part(Double(time.spin) * time.onCore)
        let socket = part(Double(time.socket) * time.onCore)
        let tls = part(Double(time.transfer - min(time.transfer, time.socket)) * time.onCore)
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
