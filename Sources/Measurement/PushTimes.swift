import Glibc
import Synchronization

/// Two moments in the life of one push of every `interval`: at the client when it left and when its answer came, at the mock
/// when it came and when its answer left. Both sides pick the same pushes by their numbers, spread so that no worker or
/// device is preferred. For many threads, without locks; 16 bytes a sample.
public final class PushTimes: Sendable {
    public enum Moment: Int, Sendable {
        case arrival = 0
        case departure = 1
    }

    /// One push in so many, a power of two.
    public let interval: UInt64
    /// Samples there may be: later pushes are not sampled.
    public static let most = 1 << 20
    private let shift: UInt64
    private let highest = Atomic<Int>(0)
    nonisolated(unsafe) private let times: UnsafeMutablePointer<Atomic<UInt64>>

    /// - Parameters:
    ///   - interval: rounded up to a power of two, at least 2.
    ///   - planned: pushes to come: memory for their samples is taken now, so that a run does not grow by it; for others, and
    ///     where that is not known, as it is used.
    /// - Returns: nil when the address space cannot be had.
    public init?(interval: UInt64, planned: UInt64 = 0) {
        var shift: UInt64 = 1
        while shift < 40, 1 << shift < interval { shift += 1 }
        self.shift = shift
        self.interval = 1 << shift
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let memory = mmap(nil, Self.most * 16, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED
        else { return nil }
        // Zero pages are valid zero atomics.
        times = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
        let samples = Int(min(planned >> shift, UInt64(Self.most)))
        for place in stride(from: 0, to: samples * 2, by: 4096 / 8) { times[place].store(0, ordering: .relaxed) }
    }

    deinit { munmap(times, Self.most * 16) }

    /// An interval that gives about 65,536 samples of `planned` pushes, but at least 16.
    public static func interval(planned: UInt64?) -> UInt64 { max(16, (planned ?? 1 << 22) / 65_536) }

    /// The sample that push `sequence` is; -1 when it is none.
    @inline(__always)
    public func sample(_ sequence: UInt64) -> Int {
        // One of each block of pushes, by a hash of the block's number.
        let block = sequence >> shift
        let chosen = (block &* 0x9E37_79B9_7F4A_7C15) >> (64 - shift)
        return sequence & (interval - 1) == chosen && block < UInt64(Self.most) ? Int(block) : -1
    }

    /// - Parameters:
    ///   - sample: as `sample(_:)` gave it.
    ///   - time: nanoseconds of the monotonic clock.
    public func note(_ moment: Moment, sample: Int, at time: UInt64) {
        times[sample * 2 + moment.rawValue].store(time, ordering: .relaxed)
        if sample >= highest.load(ordering: .relaxed) { highest.max(sample + 1, ordering: .relaxed) }
    }

    func time(_ moment: Moment, sample: Int) -> UInt64 {
        times[sample * 2 + moment.rawValue].load(ordering: .relaxed)
    }

    /// Samples up to the last one noted, so far.
    var used: Int { highest.load(ordering: .relaxed) }
}

/// A mock's push times as a file.
///
/// Layout, little-endian: `PUSHTIME`, run id, interval, number of samples (8 bytes each), then for each sample the time of
/// arrival and the time its answer left (nanoseconds of the machine's monotonic clock; 0: not seen).
public enum PushTimesFile {
    private static let magic = Array("PUSHTIME".utf8)

    public struct Failure: Error, CustomStringConvertible, Sendable {
        public let description: String
    }

    public static func write(_ times: PushTimes, run: UInt64, to path: String) throws(Failure) {
        guard let file = fopen(path, "w") else { throw failure("write", path) }
        var isComplete = fwrite(magic, 1, magic.count, file) == magic.count
        let count = times.used
        func put(_ number: UInt64) {
            withUnsafeBytes(of: number.littleEndian) {
                isComplete = isComplete && fwrite($0.baseAddress, 8, 1, file) == 1
            }
        }
        for number in [run, times.interval, UInt64(count)] { put(number) }
        for sample in 0..<count {
            put(times.time(.arrival, sample: sample))
            put(times.time(.departure, sample: sample))
        }
        if fclose(file) != 0 { isComplete = false }
        guard isComplete else { throw failure("write", path) }
    }

    /// What the two sides' times of `run` say together.
    ///
    /// - Parameter client: departure and the answer's arrival, as the client saw them.
    /// - Throws: one line when the file is missing, foreign, truncated, or of another run or interval.
    public static func join(_ path: String, run: UInt64, client: PushTimes) throws(Failure) -> OneWayTimes {
        guard let file = fopen(path, "r") else { throw failure("read", path) }
        defer { fclose(file) }
        var head = [UInt8](repeating: 0, count: magic.count)
        guard fread(&head, 1, head.count, file) == head.count, head == magic else {
            throw Failure(description: "\(path): not a file of push times")
        }
        guard let theirRun = number(file), let interval = number(file), let count = number(file) else {
            throw Failure(description: "\(path): the file of push times is truncated")
        }
        guard theirRun == run, interval == client.interval else {
            throw Failure(description: "\(path): push times of another run")
        }
        var joined = OneWayTimes()
        for sample in 0..<Int(clamping: min(count, UInt64(PushTimes.most))) {
            guard let arrival = number(file), let departure = number(file) else {
                throw Failure(description: "\(path): the file of push times is truncated")
            }
            joined.add(
                sent: client.time(.departure, sample: sample), received: arrival, answered: departure,
                read: client.time(.arrival, sample: sample))
        }
        return joined
    }

    private static func number(_ file: UnsafeMutablePointer<FILE>) -> UInt64? {
        var value: UInt64 = 0
        guard fread(&value, 8, 1, file) == 1 else { return nil }
        return UInt64(littleEndian: value)
    }

    private static func failure(_ verb: String, _ path: String) -> Failure {
        Failure(description: "cannot \(verb) the file of push times \(path): \(String(cString: strerror(errno)))")
    }
}

/// The round trip in its parts, nanoseconds: one clock, both ends on one machine.
public struct OneWayTimes: Sendable {
    /// From the start of the write that handed over its last byte to the mock having read it.
    public private(set) var toMock = LatencyHistogram.empty
    /// From then to the start of the write of the answer.
    public private(set) var inMock = LatencyHistogram.empty
    /// From then to the answer being read.
    public private(set) var fromMock = LatencyHistogram.empty
    /// Samples whose four times do not belong together: sent more than once, or one end saw only part.
    public private(set) var unmatched: UInt64 = 0

    public init() {}

    /// 0 for a time that was not seen; a push the client did not measure (`sent` and `read` 0) counts nowhere.
    public mutating func add(sent: UInt64, received: UInt64, answered: UInt64, read: UInt64) {
        if sent == 0 || read == 0 { return }
        guard sent <= received, received <= answered, answered <= read else {
            unmatched += 1
            return
        }
        toMock.record(max(1, received - sent))
        inMock.record(max(1, answered - received))
        fromMock.record(max(1, read - answered))
    }
}
