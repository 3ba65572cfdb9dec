import Payloads

/// What makes a worker's pushes: one writer, or one for each send.
final class PushWriters {
    /// The only one, or that of the first send.
    let first: PayloadWriter
    /// nil where there is one.
    private let sends: Sends?
    private var all: [PayloadWriter] = []

    init(_ inputs: RunInputs) {
        func writer(_ mix: ProfileMix, _ population: DevicePopulation, first: UInt64 = 0) -> PayloadWriter {
            PayloadWriter(
                mix: mix, population: population, run: inputs.run, notification: inputs.notification,
                seed: inputs.scenario.seed, firstSequence: first)
        }
        guard let sends = inputs.sends, sends.all.count > 1 else {
            first = writer(inputs.mix, inputs.population)
            self.sends = nil
            return
        }
        self.sends = sends
        all = sends.all.map { writer($0.mix, .listed($0.devices), first: $0.first) }
        first = all[0]
    }

    var isSingle: Bool { sends == nil }
    /// Bytes the payload memory must have.
    var capacity: Int {
        ([first] + all).reduce(0) { max($0, $1.maximumPayloadSize) } + PayloadWriter.slack
    }

    /// Whose push it is, and its send's first entry among all.
    func writer(_ sequence: UInt64) -> (writer: PayloadWriter, firstEntry: Int) {
        guard let sends else { return (first, 0) }
        let place = sends.place(sequence)
        return (all[place], sends.all[place].firstEntry)
    }

    /// Which of all entries a push is made by.
    func entry(_ sequence: UInt64) -> Int {
        let (writer, firstEntry) = writer(sequence)
        return firstEntry + writer.profileIndex(sequence: sequence)
    }

    /// The first tag of a push's device that begins so.
    func tag(_ sequence: UInt64, prefix: [UInt8]) -> String? {
        let writer = writer(sequence).writer
        return writer.tag(device: writer.device(sequence: sequence), prefix: prefix)
    }
}
