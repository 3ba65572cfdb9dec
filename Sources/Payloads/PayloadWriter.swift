/// Writes push i's payload and device token straight into the caller's memory. One a worker; allocates nothing after
/// init.
///
/// Cost of a push, device token (64 digits, 10 ns) included, against memcpy of as many bytes and Foundation's JSONEncoder
/// on the same `Notification`:
///
/// | profile | mean bytes | ns | memcpy | JSONEncoder |
/// | --- | --- | --- | --- | --- |
/// | alert | 313 | 53 | 8 | 12,600 |
/// | silent | 117 | 38 | 3 | 7,200 |
/// | live-activity | 209 | 63 | 4 | 9,900 |
/// | voip | 136 | 55 | 4 | 8,000 |
/// | rich | 1,138 | 900 | 15 | 11,900, without sealing |
///
/// Release build, one core of an AMD EPYC, thread CPU time, medians of 9 runs of a million (rich: 100,000) in alternation.
/// Since then numbers are looked up three digits at a time, and Base64 is written sixteen digits at once: alert takes 0.87 of that,
/// live-activity 0.89, voip 0.94, silent 0.97, rich 0.88 (medians of 5 to 7 alternated rounds with the build before).
///
/// The holes cost, not the bytes: a random number is about 30 instructions, a random choice 15, a constant 20. Of `rich`, half is
/// OpenSSL's AES-GCM (500 ns for 660 bytes under a new key; `openssl speed` without one: 480).
public final class PayloadWriter {
    /// Most bytes a payload of this mix can have.
    public let maximumPayloadSize: Int
    private let templates: [CompiledTemplate]
    private let profiles: UnsafeMutablePointer<Steps>
    private let profileCount: Int
    private let weights: UnsafeMutablePointer<UInt64>
    private let totalWeight: UInt64
    private let population: DevicePopulation
    private let deviceCount: UInt64
    private let seed: UInt64
    private let synthetic: SyntheticDevices
    /// nil when the devices are synthetic.
    private let list: DeviceList?
    private let selection: DeviceSelection?
    /// The same, for every push: without counting a reference.
    private let uncountedList: Unmanaged<DeviceList>?
    private let uncountedSelection: Unmanaged<DeviceSelection>?
    private let choosesEntry: Bool
    /// Where this writer stands among the selected devices.
    private let place: UnsafeMutablePointer<DeviceSelection.Place>
    private let firstSequence: UInt64
    /// Push i goes to device i.
    private let isPlain: Bool
    private let sealer: Sealer?

    private let time: UnsafeMutablePointer<TimeText>
    private let thousands = Digits.Thousands()

    /// A time and its digits.
    private struct TimeText {
        var value: UInt64 = 0
        var digits = SIMD32<UInt8>(repeating: 0x30)
        var count = 1
    }

    /// What a payload of one profile is written from: a template's memory without the object.
    private struct Steps {
        let beginning: UnsafePointer<UInt8>
        let beginningCount: Int
        let steps: UnsafePointer<CompiledTemplate.Step>
        let choices: UnsafePointer<CompiledTemplate.Choice>
    }

    /// - Parameters:
    ///   - notification: what `{{notification_id}}` becomes.
    ///   - firstSequence: of the push that goes to the first device.
    public init(
        mix: ProfileMix, population: DevicePopulation, run: RunID, notification: UInt64 = 0, seed: UInt64,
        firstSequence: UInt64 = 0
    ) {
        self.firstSequence = firstSequence
        place = .allocate(capacity: 1)
        place.initialize(to: DeviceSelection.Place())
        selection = population.selection
        uncountedSelection = selection.map(Unmanaged.passUnretained)
        isPlain = selection == nil && firstSequence == 0
        templates = mix.entries.map {
            CompiledTemplate($0.profile.template, run: run, notification: notification, population: population)
        }
        time = .allocate(capacity: 1)
        time.initialize(to: TimeText())
        profileCount = templates.count
        profiles = .allocate(capacity: profileCount)
        for (index, template) in templates.enumerated() {
            (profiles + index).initialize(
                to: Steps(
                    beginning: template.beginning, beginningCount: template.beginningCount,
                    steps: UnsafePointer(template.steps), choices: UnsafePointer(template.choices)))
        }
        maximumPayloadSize = mix.entries.map(\.profile.template.maximumSize).max()!
        weights = .allocate(capacity: mix.entries.count)
        var total: UInt64 = 0
        for (index, entry) in mix.entries.enumerated() {
            total += entry.weight
            weights[index] = total
        }
        totalWeight = total
        self.population = population
        switch population {
        case .synthetic(let devices):
            synthetic = devices
            list = nil
        case .listed(let devices):
            synthetic = SyntheticDevices(seed: seed, count: 0)
            list = devices
        }
        uncountedList = list.map(Unmanaged.passUnretained)
        choosesEntry = list?.choosesEntry == true
        deviceCount = max(population.count, 1)
        self.seed = seed
        let longest = mix.entries.map(\.profile.template.longestSealed).max()!
        sealer = longest > 0 ? Sealer(seed: seed, longest: longest) : nil
    }

    deinit {
        weights.deallocate()
        profiles.deallocate()
        time.deallocate()
        thousands.deallocate()
        place.deallocate()
    }

    /// Bytes beyond `maximumPayloadSize` that the buffer must have.
    public static let slack = Blocks.size

    /// The device push `sequence` goes to: one after the other, again from the first when all have had one.
    @inline(__always)
    public func device(sequence: UInt64) -> UInt64 {
        if isPlain { return sequence < deviceCount ? sequence : sequence % deviceCount }
        return selectedDevice(sequence)
    }

    @inline(never)
    private func selectedDevice(_ sequence: UInt64) -> UInt64 {
        let push = sequence &- firstSequence
        let index = push < deviceCount ? push : push % deviceCount
        guard let uncountedSelection else { return index }
        return uncountedSelection._withUnsafeGuaranteedRef { UInt64($0.row(index, from: &place.pointee)) }
    }

    /// Which of the mix's profiles push `sequence` has.
    @inline(__always)
    public func profileIndex(sequence: UInt64) -> Int {
        if profileCount == 1 { return 0 }
        if choosesEntry { return list!.entry(device(sequence: sequence)) }
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
        if let uncountedList {
            return uncountedList._withUnsafeGuaranteedRef { $0.writeToken(device, into: output) }
        }
        synthetic.writeToken(device, into: output)
        return SyntheticDevices.tokenLength
    }

    /// Writes the payload of push `sequence`; returns its length.
    ///
    /// - Parameter buffer: `maximumPayloadSize + slack` bytes.
    public func write(
        sequence: UInt64, profile: Int, unixTime: UInt64, into buffer: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let device = device(sequence: sequence)
        let base = Mix.base(seed, sequence)
        let choices = profiles[profile].choices
        var step = profiles[profile].steps
        Blocks.copy(profiles[profile].beginning, profiles[profile].beginningCount, to: buffer)
        var output = buffer + profiles[profile].beginningCount
        while true {
            switch step.pointee.code {
            case .end:
                output += thousands.write(sequence, into: output)
                // What closes the trace tag and the payload.
                output[0] = 0x22
                output[1] = 0x7D
                return output - buffer &+ 2
            case .deviceIndex: output += thousands.write(device, into: output)
            case .deviceToken: output += writeToken(device: device, into: output)
            case .sequence: output += thousands.write(sequence, into: output)
            case .unixTime: output += writeTime(unixTime, into: output)
            case .random: output += thousands.write(Self.number(base, step), into: output)
            case .sixRandom:
                output += thousands.writeSix(UInt32(truncatingIfNeeded: Self.number(base, step)), into: output)
            case .threeRandom:
                output += thousands.writeThree(UInt32(truncatingIfNeeded: Self.number(base, step)), into: output)
            case .pick:
                output += Self.write(choices + Int(truncatingIfNeeded: Self.number(base, step)), step, output)
                if step.pointee.constantCount == 0 {
                    step += 1
                    continue
                }
            case .devicePick:
                let choice = step.pointee.first &+ synthetic.tagChoice(device, salt: step.pointee.salt)
                output += Self.write(choices + Int(truncatingIfNeeded: choice), step, output)
                if step.pointee.constantCount == 0 {
                    step += 1
                    continue
                }
            case .text:
                output += RandomText.write(
                    count: Int(truncatingIfNeeded: Self.number(base, step)),
                    random: Mix.finalise(base &+ step.pointee.textSalt), into: output)
            case .fileTag:
                output += writeListedTag(device, Int(truncatingIfNeeded: step.pointee.first), into: output)
            case .sealed:
                output += Unmanaged.passUnretained(sealer!)._withUnsafeGuaranteedRef {
                    $0.write(
                        count: Int(truncatingIfNeeded: Self.number(base, step)),
                        random: Mix.finalise(base &+ step.pointee.textSalt), device: device, sequence: sequence,
                        into: output)
                }
            }
            Blocks.copy(step.pointee.constant, step.pointee.constantCount, to: output)
            output += step.pointee.constantCount
            step += 1
        }
    }

    @inline(never)
    private func writeListedTag(_ device: UInt64, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        uncountedList!._withUnsafeGuaranteedRef { $0.writeTag(device, number, into: output) }
    }

    /// The time, whose digits change once in a million pushes.
    @inline(__always)
    private func writeTime(_ unixTime: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        if time.pointee.value != unixTime { keepDigits(unixTime) }
        UnsafeMutableRawPointer(output).storeBytes(of: time.pointee.digits, as: SIMD32<UInt8>.self)
        return time.pointee.count
    }

    @inline(never)
    private func keepDigits(_ unixTime: UInt64) {
        time.pointee.value = unixTime
        time.pointee.count = withUnsafeMutableBytes(of: &time.pointee.digits) {
            Digits.writeLong(unixTime, into: $0.baseAddress!.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// The hole's number in its range.
    @inline(__always)
    private static func number(_ base: UInt64, _ step: UnsafePointer<CompiledTemplate.Step>) -> UInt64 {
        step.pointee.first &+ Mix.bounded(Mix.finalise(base &+ step.pointee.salt), step.pointee.span)
    }

    @inline(__always)
    private static func write(
        _ choice: UnsafePointer<CompiledTemplate.Choice>, _ step: UnsafePointer<CompiledTemplate.Step>,
        _ output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        Blocks.copy(choice.pointee.text, max(choice.pointee.count, step.pointee.whole), to: output)
        return choice.pointee.count
    }
}
