/// Writes push i's payload and device token straight into the caller's memory. One a worker; allocates nothing after
/// init.
///
/// Cost (release build, one core): `alert` about 60 ns a payload of 370 bytes.
public final class PayloadWriter {
    /// Most bytes a payload of this mix can have.
    public let maximumPayloadSize: Int
    private let templates: [CompiledTemplate]
    private let weights: UnsafeMutablePointer<UInt64>
    private let totalWeight: UInt64
    private let population: DevicePopulation
    private let deviceCount: UInt64
    private let run: RunID
    private let seed: UInt64
    private let sealer: Sealer?

    public init(mix: ProfileMix, population: DevicePopulation, run: RunID, seed: UInt64) {
        templates = mix.entries.map { CompiledTemplate($0.profile.template) }
        maximumPayloadSize = mix.entries.map(\.profile.template.maximumSize).max()!
        weights = .allocate(capacity: mix.entries.count)
        var total: UInt64 = 0
        for (index, entry) in mix.entries.enumerated() {
            total += entry.weight
            weights[index] = total
        }
        totalWeight = total
        self.population = population
        deviceCount = max(population.count, 1)
        self.run = run
        self.seed = seed
        let longest = mix.entries.map(\.profile.template.longestSealed).max()!
        sealer = longest > 0 ? Sealer(seed: seed, longest: longest) : nil
    }

    deinit { weights.deallocate() }

    /// Bytes beyond `maximumPayloadSize` that the buffer must have.
    public static let slack = 4

    /// The device push `sequence` goes to: one after the other, again from the first when all have had one.
    @inline(__always)
    public func device(sequence: UInt64) -> UInt64 {
        sequence < deviceCount ? sequence : sequence % deviceCount
    }

    /// Which of the mix's profiles push `sequence` has.
    @inline(__always)
    public func profileIndex(sequence: UInt64) -> Int {
        if templates.count == 1 { return 0 }
        let draw = Mix.bounded(Mix.number(seed, sequence, 0xA11), totalWeight)
        var index = 0
        while weights[index] <= draw { index &+= 1 }
        return index
    }

    /// The device's first tag that begins so.
    public func tag(device: UInt64, prefix: [UInt8]) -> String? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DevicePopulation.longestTag) { buffer in
            var number = 0
            while true {
                let length = population.writeTag(device, number, into: buffer.baseAddress!)
                if length == 0 { return nil }
                if buffer[..<length].starts(with: prefix) { return String(decoding: buffer[..<length], as: UTF8.self) }
                number += 1
            }
        }
    }

    /// Writes the device's token; returns its digits.
    @inline(__always)
    public func writeToken(device: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        population.writeToken(device, into: output)
    }

    /// Writes the payload of push `sequence`; returns its length.
    ///
    /// - Parameter buffer: `maximumPayloadSize + slack` bytes.
    public func write(
        sequence: UInt64, profile: Int, unixTime: UInt64, into buffer: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let device = device(sequence: sequence)
        var output = buffer
        templates.withUnsafeBufferPointer { list in
            Unmanaged.passUnretained(list[profile])._withUnsafeGuaranteedRef { template in
                let constants = template.constants
                let operations = template.operations
                for place in 0..<template.operationCount {
                    let operation = operations[place]
                    switch operation.code {
                    case .constant:
                        let count = Int(truncatingIfNeeded: operation.second)
                        output.update(from: constants + Int(truncatingIfNeeded: operation.first), count: count)
                        output += count
                    case .deviceIndex: output += Digits.writeDecimal(device, into: output)
                    case .deviceToken: output += population.writeToken(device, into: output)
                    case .sequence: output += Digits.writeDecimal(sequence, into: output)
                    case .runID:
                        Digits.writeHex(run.rawValue, into: output)
                        output += 16
                    case .unixTime: output += Digits.writeDecimal(unixTime, into: output)
                    case .random:
                        let span = operation.second &- operation.first &+ 1
                        let value = operation.first &+ Mix.bounded(random(sequence, place), span)
                        output += Digits.writeDecimal(value, into: output)
                    case .pick:
                        let choice = Mix.bounded(random(sequence, place), operation.second)
                        let (offset, count) = template.options[Int(operation.first &+ choice)]
                        output.update(from: constants + offset, count: count)
                        output += count
                    case .text:
                        output += RandomText.write(
                            count: length(operation, sequence, place), random: random(sequence, place &+ 0x10000),
                            into: output)
                    case .tag:
                        output += population.writeTag(device, Int(operation.first), into: output)
                    case .sealed:
                        output += sealer!.write(
                            count: length(operation, sequence, place), random: random(sequence, place &+ 0x10000),
                            device: device, sequence: sequence, into: output)
                    }
                }
            }
        }
        output += TraceTag.write(run: run, sequence: sequence, into: output)
        output[0] = 0x22
        output[1] = 0x7D
        return output - buffer + 2
    }

    @inline(__always)
    private func random(_ sequence: UInt64, _ place: Int) -> UInt64 {
        Mix.number(seed, sequence, UInt64(truncatingIfNeeded: place))
    }

    @inline(__always)
    private func length(_ operation: CompiledTemplate.Operation, _ sequence: UInt64, _ place: Int) -> Int {
        Int(operation.first &+ Mix.bounded(random(sequence, place), operation.second &- operation.first &+ 1))
    }
}
