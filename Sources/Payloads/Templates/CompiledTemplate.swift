/// A template bound to a run and its devices, in the form the writer walks over: the constant text it begins with, and a flat list of
/// steps, each a hole and the constant text after it. What is the same in the whole run has become constant text.
final class CompiledTemplate {
    enum Code: UInt8 {
        /// The last step: the trace tag's number, and what closes the payload.
        case end
        case deviceIndex, deviceToken, sequence, unixTime
        /// A random number: any, one of at most six digits, and of at most three.
        case random, sixRandom, threeRandom
        /// One of a list of texts: by the push, and by the device.
        case pick, devicePick
        case text, sealed
        /// A tag from a file.
        case fileTag
    }

    /// What a step fills in and then copies.
    struct Step {
        let code: Code
        let constant: UnsafePointer<UInt8>
        /// 0 where choices have it at their ends.
        let constantCount: Int
        /// What makes the hole's random numbers its own (`Mix.salt`), and those of its characters.
        var salt: UInt64 = 0
        var textSalt: UInt64 = 0
        /// The lower end of a range, the first choice of a pick, the number of a tag.
        var first: UInt64 = 0
        /// How many numbers, lengths or choices there are; 0 stands for 2^64.
        var span: UInt64 = 0
        /// Bytes of a choice that are copied however short it is, so that copying always takes the same branches.
        var whole = 0
    }

    struct Choice {
        let text: UnsafePointer<UInt8>
        let count: Int
    }

    let beginning: UnsafePointer<UInt8>
    let beginningCount: Int
    let steps: UnsafeMutablePointer<Step>
    let choices: UnsafeMutablePointer<Choice>
    private let bytes: UnsafeMutablePointer<UInt8>

    init(_ template: PayloadTemplate, run: RunID, notification: UInt64, population: DevicePopulation) {
        var builder = Builder(run: run, notification: notification, population: population)
        for (place, piece) in template.pieces.enumerated() {
            switch piece {
            case .constant(let text): builder.bytes += text
            case .hole(let hole): builder.add(hole, place: UInt64(place))
            }
        }
        builder.bytes += Array("\(run)-".utf8)
        builder.step(.end)
        builder.endStep()

        // Choices are copied whole and in blocks: what is read beyond the last one must be there.
        let padding = Builder.longestWhole + Blocks.size
        let count = builder.bytes.count
        let base = UnsafeMutablePointer<UInt8>.allocate(capacity: count + padding)
        base.update(from: builder.bytes, count: count)
        (base + count).initialize(repeating: 0, count: padding)
        bytes = base
        beginning = UnsafePointer(base + builder.beginning.lowerBound)
        beginningCount = builder.beginning.count
        steps = .allocate(capacity: builder.steps.count)
        for (index, draft) in builder.steps.enumerated() {
            (steps + index).initialize(
                to: Step(
                    code: draft.code, constant: base + draft.constant.lowerBound, constantCount: draft.constant.count,
                    salt: draft.salt, textSalt: draft.textSalt, first: draft.first, span: draft.span,
                    whole: draft.whole))
        }
        choices = .allocate(capacity: max(builder.choices.count, 1))
        for (index, range) in builder.choices.enumerated() {
            (choices + index).initialize(to: Choice(text: base + range.lowerBound, count: range.count))
        }
    }

    deinit {
        steps.deallocate()
        choices.deallocate()
        bytes.deallocate()
    }
}

/// Steps with offsets where the finished ones have pointers.
private struct Builder {
    /// Choices up to so many bytes are copied whole, with the constant text behind them if that is not too much.
    static let longestWhole = 128

    struct Draft {
        let code: CompiledTemplate.Code
        var constant = 0..<0
        var salt: UInt64 = 0
        var textSalt: UInt64 = 0
        var first: UInt64 = 0
        var span: UInt64 = 0
        var whole = 0
    }

    let run: RunID
    let notification: UInt64
    let population: DevicePopulation
    var bytes: [UInt8] = []
    private(set) var beginning = 0..<0
    var steps: [Draft] = []
    var choices: [Range<Int>] = []
    /// Where the constant text begins that no step has taken yet.
    private var pending = 0
    /// Of the last step, which its text is still to come behind.
    private var texts: [[UInt8]] = []

    init(run: RunID, notification: UInt64, population: DevicePopulation) {
        self.run = run
        self.notification = notification
        self.population = population
    }

    mutating func add(_ hole: TemplateHole, place: UInt64) {
        switch hole {
        case .runID: bytes += Array(run.description.utf8)
        case .notificationID: bytes += Array(String(notification).utf8)
        case .deviceIndex: step(.deviceIndex)
        case .deviceToken: step(.deviceToken)
        case .sequence: step(.sequence)
        case .unixTime: step(.unixTime)
        case .random(let low, let high):
            let code: CompiledTemplate.Code = high < 1000 ? .threeRandom : high < 1_000_000 ? .sixRandom : .random
            step(code, place, low, high)
        case .text(let low, let high): step(.text, place, UInt64(low), UInt64(high))
        case .sealed(let low, let high): step(.sealed, place, UInt64(low), UInt64(high))
        case .pick(let texts): pick(.pick, texts, salt: Mix.salt(place))
        case .tag(let number):
            guard case .synthetic = population else {
                step(.fileTag, 0, UInt64(number), UInt64(number))
                return
            }
            if number == 0 {
                bytes += Array(SyntheticDevices.userTag.utf8)
                step(.deviceIndex)
            } else if let texts = SyntheticDevices.tagTexts(number) {
                pick(.devicePick, texts, salt: SyntheticDevices.tagSalt(number))
            }
        }
    }

    mutating func step(_ code: CompiledTemplate.Code) {
        endStep()
        steps.append(Draft(code: code))
    }

    /// What has come since the last step is its constant text.
    mutating func endStep() {
        defer { pending = bytes.count }
        guard let last = steps.indices.last else {
            beginning = 0..<bytes.count
            return
        }
        guard !texts.isEmpty else {
            steps[last].constant = pending..<bytes.count
            return
        }
        let after = Array(bytes[pending...])
        var longest = texts.map(\.count).max() ?? 0
        let isFolded = longest + after.count <= Self.longestWhole
        if isFolded { longest += after.count }
        steps[last].constant = isFolded ? 0..<0 : pending..<bytes.count
        steps[last].whole = longest <= Self.longestWhole ? longest : 0
        for text in texts {
            choices.append(bytes.count..<(bytes.count + text.count + (isFolded ? after.count : 0)))
            bytes += text
            if isFolded { bytes += after }
        }
        texts = []
    }

    private mutating func step(_ code: CompiledTemplate.Code, _ place: UInt64, _ low: UInt64, _ high: UInt64) {
        step(code)
        steps[steps.count - 1].salt = Mix.salt(place)
        steps[steps.count - 1].textSalt = Mix.salt(place + 0x10000)
        steps[steps.count - 1].first = low
        steps[steps.count - 1].span = high - low &+ 1
    }

    private mutating func pick(_ code: CompiledTemplate.Code, _ texts: [String], salt: UInt64) {
        step(code)
        steps[steps.count - 1].salt = salt
        steps[steps.count - 1].first = UInt64(choices.count)
        steps[steps.count - 1].span = UInt64(texts.count)
        self.texts = texts.map { Array($0.utf8) }
    }
}
