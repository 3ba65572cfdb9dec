import Payloads

/// What makes a worker's pushes: one writer, or one for each send.
final class PushWriters {
    /// The only one, or that of the first send.
    let first: PayloadWriter
    /// nil where there is one.
    private let sends: Sends?
    private var all: [PayloadWriter] = []
    /// A recording that is sent instead; nil: there is none.
    let replay: Replay?
    private let run: RunID

    init(_ inputs: RunInputs) {
        func writer(_ mix: ProfileMix, _ population: DevicePopulation, first: UInt64 = 0) -> PayloadWriter {
            PayloadWriter(
                mix: mix, population: population, run: inputs.run, notification: inputs.notification,
                seed: inputs.scenario.seed, firstSequence: first)
        }
        replay = inputs.replay
        run = inputs.run
        guard let sends = inputs.sends, sends.all.count > 1 else {
            first = writer(inputs.mix, inputs.population)
            self.sends = nil
            return
        }
        self.sends = sends
        all = sends.all.map { writer($0.mix, .listed($0.devices), first: $0.first) }
        first = all[0]
    }

    /// All pushes are made by `first`.
    var isSingle: Bool { sends == nil && replay == nil }
    /// Bytes the payload memory must have.
    var capacity: Int {
        if let replay { return replay.largest + max(SizedPayload.slack, PayloadWriter.slack) }
        return ([first] + all).reduce(0) { max($0, $1.maximumPayloadSize) } + PayloadWriter.slack
    }

    /// Where a push is written: its token and its payload.
    struct Memory {
        /// `longestToken` bytes of the population.
        let token: UnsafeMutablePointer<UInt8>
        /// `capacity` bytes.
        let payload: UnsafeMutablePointer<UInt8>
    }

    /// What was written of a push: lengths, and its set of headers.
    struct Written {
        var headerSet = 0
        var token = 0
        var payload = 0
        /// Among synthetic devices, or in a list.
        var device: UInt64 = 0
    }

    /// Writes push `sequence`.
    func write(_ sequence: UInt64, unixTime: UInt64, into memory: Memory) -> Written {
        if let replay {
            let device = replay.device(sequence)
            return Written(
                headerSet: replay.kind(sequence), token: first.writeToken(device: device, into: memory.token),
                payload: replay.write(sequence, run: run, unixTime: unixTime, into: memory.payload), device: device)
        }
        let (writer, firstEntry) = writer(sequence)
        let profile = writer.profileIndex(sequence: sequence)
        let device = writer.device(sequence: sequence)
        return Written(
            headerSet: firstEntry &+ profile, token: writer.writeToken(device: device, into: memory.token),
            payload: writer.write(sequence: sequence, profile: profile, unixTime: unixTime, into: memory.payload),
            device: device)
    }

    /// Whose push it is, and its send's first entry among all.
    private func writer(_ sequence: UInt64) -> (writer: PayloadWriter, firstEntry: Int) {
        guard let sends else { return (first, 0) }
        let place = sends.place(sequence)
        return (all[place], sends.all[place].firstEntry)
    }

    /// Which of all entries a push is made by.
    func entry(_ sequence: UInt64) -> Int {
        if let replay { return replay.type(sequence) }
        let (writer, firstEntry) = writer(sequence)
        return firstEntry + writer.profileIndex(sequence: sequence)
    }

    /// The first tag of a push's device that begins so.
    func tag(_ sequence: UInt64, prefix: [UInt8]) -> String? {
        if let replay { return first.tag(device: replay.device(sequence), prefix: prefix) }
        let writer = writer(sequence).writer
        return writer.tag(device: writer.device(sequence: sequence), prefix: prefix)
    }
}
