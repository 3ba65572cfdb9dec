/// The push times of all mocks of a run: which of them a sample came to, and what its clock and a client's say together.
package struct MockTimes: Sendable {
    private let mocks: [PushTimesFile.Contents]
    /// By the sample's number: the mock that saw it, and its place there; of one that several saw, or none, nothing.
    private var owners: [Int: (mock: Int, place: Int)] = [:]
    private var shared: Set<Int> = []

    package init(_ mocks: [PushTimesFile.Contents]) {
        self.mocks = mocks
        for (mock, contents) in mocks.enumerated() {
            for (place, sample) in contents.samples.enumerated() {
                if owners.updateValue((mock, place), forKey: sample.number) != nil { shared.insert(sample.number) }
            }
        }
        for number in shared { owners[number] = nil }
    }

    /// What a client and one mock say together.
    package struct Pair: Sendable {
        package let mock: Int
        /// What the mock's wall clock was ahead of the client's, ns, and how far that may be wrong.
        package let offset: Int64
        package let bound: Int64
        package let samples: Int
        /// ppm; nil where it is less than what can be told.
        package let drift: Double?
    }

    /// - Parameters:
    ///   - client: departure and the answer's arrival of each sample, as the client saw them.
    ///   - oneWay: gets the parts of the round trip.
    /// - Returns: each mock that the client's samples came to.
    package func join(_ client: PushTimesFile.Contents, into oneWay: inout OneWayTimes) -> [Pair] {
        var samples = [[PushStamps]](repeating: [], count: mocks.count)
        for sample in client.samples where sample.departure != 0 && sample.arrival != 0 {
            guard let owner = owners[sample.number] else {
                oneWay.addUnmatched(1)
                continue
            }
            let theirs = mocks[owner.mock].samples[owner.place]
            if let stamps = PushStamps(
                sent: sample.departure, received: theirs.arrival, answered: theirs.departure, read: sample.arrival)
            {
                samples[owner.mock].append(stamps)
            } else {
                oneWay.addUnmatched(1)
            }
        }
        return samples.enumerated().compactMap { mock, samples in
            guard let clocks = ClockOffset(samples) else {
                oneWay.addUnmatched(UInt64(samples.count))
                return nil
            }
            for sample in samples { oneWay.add(sample, clocks) }
            let best = clocks.best
            return Pair(
                mock: mock, offset: best.offset &+ mocks[mock].wallClock &- client.wallClock, bound: best.bound,
                samples: samples.count, drift: clocks.drift)
        }
    }
}
