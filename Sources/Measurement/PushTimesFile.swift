import Glibc

/// One side's push times as a file: a mock's, or a client's.
///
/// Layout: `PUSHTIM3`, whose it is (1 a worker's, 2 a mock's), run id (0: of none), interval, what the machine's wall clock was ahead
/// of its monotonic one when the file was written (nanoseconds, signed), number of samples (8 bytes each, little-endian); then for
/// each sample, in ascending order, how far its number is behind the one before, how much later its arrival was than that one's, and
/// its departure than its arrival (nanoseconds of the monotonic clock, LEB128, the latter two ZigZag; a time of 0: not seen); at the
/// end a `FileCheck`.
public enum PushTimesFile {
    public typealias Failure = BinaryFileFailure

    private static let magic = "PUSHTIM3"
    private static let words = "file of push times"

    /// Whose times a file has.
    public enum Side: UInt64, Sendable {
        case worker = 1
        case mock = 2
    }

    /// What a file says.
    package struct Contents: Sendable {
        /// 0: no push of any run came.
        package var run: UInt64
        /// One push in so many is a sample.
        package var interval: UInt64
        /// What the wall clock of its machine was ahead of the monotonic one, ns.
        package var wallClock: Int64
        /// In ascending order of their numbers.
        package var samples: [Sample] = []

        package struct Sample: Sendable {
            package var number: Int
            /// Nanoseconds of the monotonic clock of its machine; 0: not seen.
            package var arrival: UInt64
            package var departure: UInt64
        }
    }

    public static func write(_ times: PushTimes, run: UInt64, of side: Side = .worker, to path: String) throws(Failure)
    {
        let file = try BinaryFileWriter(words, path, magic: magic)
        let seen = (0..<times.used).lazy.filter {
            times.time(.arrival, sample: $0) != 0 || times.time(.departure, sample: $0) != 0
        }
        for number in [side.rawValue, run, times.interval, UInt64(bitPattern: wallClock()), UInt64(seen.count)] {
            file.put(number)
        }
        var (last, time) = (-1, UInt64(0))
        for sample in seen {
            let arrival = times.time(.arrival, sample: sample)
            file.put(short: UInt64(sample - last))
            file.put(difference: Int64(bitPattern: arrival &- time))
            file.put(difference: Int64(bitPattern: times.time(.departure, sample: sample) &- arrival))
            (last, time) = (sample, arrival)
        }
        try file.finish()
    }

    /// Writes that no push came to a mock.
    public static func writeNone(interval: UInt64, to path: String) throws(Failure) {
        guard let none = PushTimes(interval: interval) else { throw Failure("not enough address space for push times") }
        try write(none, run: 0, of: .mock, to: path)
    }

    /// - Parameter side: whose it has to be.
    /// - Returns: of a mock to which no push came, times of run 0, which are none.
    /// - Throws: one line when the file is missing, foreign, truncated, damaged, of another run or of the other side.
    package static func read(_ path: String, run: UInt64, of side: Side = .worker) throws(Failure) -> Contents {
        let file = try BinaryFileReader(words, path, magic: magic)
        guard let found = Side(rawValue: try file.number()) else { throw file.failure("the \(words) is damaged") }
        guard found == side else {
            throw file.failure(
                side == .mock
                    ? "push times of a worker; expected a mock's (mock-apns serve --times-out)"
                    : "push times of a mock; expected the worker's own")
        }
        let own = try file.number()
        guard own == run || own == 0 && side == .mock else { throw file.failure("push times of another run") }
        var contents = Contents(
            run: own, interval: try file.number(), wallClock: Int64(bitPattern: try file.number()))
        let count = try file.number()
        guard count <= (own == 0 ? 0 : UInt64(PushTimes.most)) else { throw file.failure("the \(words) is damaged") }
        var (last, time) = (-1, UInt64(0))
        for _ in 0..<count {
            let gap = try file.shortNumber()
            guard gap > 0, gap < UInt64(PushTimes.most - last) else { throw file.failure("the \(words) is damaged") }
            last += Int(gap)
            time &+= UInt64(bitPattern: try file.difference())
            let departure = time &+ UInt64(bitPattern: try file.difference())
            contents.samples.append(.init(number: last, arrival: time, departure: departure))
        }
        try file.finish()
        return contents
    }

    /// What the two sides' times of `run` say together, both by one clock.
    ///
    /// - Parameter client: departure and the answer's arrival, as the client saw them.
    /// - Throws: one line when the file is missing, foreign, truncated, damaged, or of another run or interval.
    public static func join(_ path: String, run: UInt64, client: PushTimes) throws(Failure) -> OneWayTimes {
        let mock = try read(path, run: run, of: .mock)
        guard mock.run == run, mock.interval == client.interval else {
            throw Failure("\(path): push times of another run")
        }
        var joined = OneWayTimes()
        var theirs = mock.samples[...]
        for sample in 0..<client.used {
            let seen = theirs.first?.number == sample ? theirs.popFirst() : nil
            joined.add(
                sent: client.time(.departure, sample: sample), received: seen?.arrival ?? 0,
                answered: seen?.departure ?? 0, read: client.time(.arrival, sample: sample))
            while let next = theirs.first, next.number <= sample { theirs.removeFirst() }
        }
        return joined
    }

    /// What the wall clock is ahead of the monotonic one, ns: read between two readings of that, of several such the one that took the
    /// least time, which is less than 1 µs.
    private static func wallClock() -> Int64 {
        func nanoseconds(_ clock: clockid_t) -> Int64 {
            var time = timespec()
            clock_gettime(clock, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        let readings = (0..<8).map { _ in
            let before = nanoseconds(CLOCK_MONOTONIC)
            let wall = nanoseconds(CLOCK_REALTIME)
            let after = nanoseconds(CLOCK_MONOTONIC)
            return (took: after - before, ahead: wall - before - (after - before) / 2)
        }
        return readings.min { $0.took < $1.took }?.ahead ?? 0
    }
}
