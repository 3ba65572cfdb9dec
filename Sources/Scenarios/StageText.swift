import Settings

extension LoadStage {
    /// Stages in words, separated by commas: `ramp 1k 20k 10s, hold 20k 30s, pause 5s`.
    ///
    /// `hold RATE TIME`, `spike RATE TIME`, `ramp FROM TO TIME`, `step FROM TO STEPS TIME`, `sine MEAN AMPLITUDE PERIOD TIME`,
    /// `burst PUSHES [TIME]`, `pause TIME`; a hold may end with a number of pushes instead, `hold 20k 100k pushes`.
    public static func parse(_ text: String) throws(SettingsError) -> [LoadStage] {
        if text.contains(where: { ";|".contains($0) }) {
            throw SettingsError("\"\(text)\": stages are separated by commas, as in ramp 1k 20k 10s, hold 20k 30s")
        }
        var stages: [LoadStage] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            stages += try stage(part.split(separator: " ").map(String.init), text: String(part))
        }
        return stages
    }

    /// The same in words, as results write it; rates are pushes a second.
    public var text: String {
        func rate(_ value: Double) -> String {
            value == value.rounded() && value < 1e15 ? "\(UInt64(value))" : Units.fixed(value, places: 6)
        }
        let words: String =
            switch shape {
            case .hold(let value): "hold \(rate(value))"
            case .ramp(let from, let to): "ramp \(rate(from)) \(rate(to))"
            case .sine(let mean, let amplitude, let period):
                "sine \(rate(mean)) \(rate(amplitude)) \(Units.written(duration: period))"
            case .burst(let pushes): "burst \(pushes)"
            case .pause: "pause"
            }
        return words + (pushes.map { " \($0) pushes" } ?? "")
            + (duration.map { " \(Units.written(duration: $0))" } ?? "")
    }

    static let forms = [
        "hold RATE TIME", "spike RATE TIME", "ramp FROM TO TIME", "step FROM TO STEPS TIME",
        "sine MEAN AMPLITUDE PERIOD TIME", "burst PUSHES [TIME]", "pause TIME",
    ]

    private static func stage(_ words: [String], text: String) throws(SettingsError) -> [LoadStage] {
        func rate(_ index: Int) throws(SettingsError) -> Double {
            try wrapped { () throws(Units.ParseError) in try Units.rate(words[index]) }
        }
        func time(_ index: Int) throws(SettingsError) -> UInt64 {
            try wrapped { () throws(Units.ParseError) in try Units.duration(words[index]) }
        }
        func count(_ index: Int) throws(SettingsError) -> UInt64 {
            try wrapped { () throws(Units.ParseError) in try Units.count(words[index]) }
        }
        let kind = words.first ?? ""
        switch (kind, words.count) {
        case ("hold", 3), ("spike", 3):
            return [LoadStage(name: kind, shape: .hold(rate: try rate(1)), duration: try time(2))]
        case ("hold", 4) where words[3] == "pushes":
            return [LoadStage(name: kind, shape: .hold(rate: try rate(1)), pushes: try count(2))]
        case ("ramp", 4):
            return [LoadStage(name: kind, shape: .ramp(from: try rate(1), to: try rate(2)), duration: try time(3))]
        case ("step", 5): return try steps(from: rate(1), to: rate(2), count: count(3), time: time(4))
        case ("sine", 5):
            return [
                LoadStage(
                    name: kind, shape: .sine(mean: try rate(1), amplitude: try rate(2), period: try time(3)),
                    duration: try time(4))
            ]
        case ("burst", 2): return [LoadStage(name: kind, shape: .burst(pushes: try count(1)))]
        case ("burst", 3): return [LoadStage(name: kind, shape: .burst(pushes: try count(1)), duration: try time(2))]
        case ("pause", 2): return [LoadStage(name: kind, shape: .pause, duration: try time(1))]
        default:
            let form = forms.first { $0.hasPrefix(kind + " ") }
            let expected = kind.isEmpty || form == nil ? forms.joined(separator: ", ") : form!
            throw SettingsError(
                "\"\(text.split(separator: " ").joined(separator: " "))\" is not a stage; expected \(expected)")
        }
    }

    private static func wrapped<Value>(_ read: () throws(Units.ParseError) -> Value) throws(SettingsError) -> Value {
        do throws(Units.ParseError) { return try read() } catch { throw SettingsError(error.description) }
    }

    /// Equal holds that go from one rate to another in steps.
    public static func steps(
        from: Double, to: Double, count: UInt64, time: UInt64
    ) throws(SettingsError) -> [LoadStage] {
        guard (2...1000).contains(count) else { throw SettingsError("\(count) steps: expected 2 to 1000") }
        return (0..<count).map { step in
            let rate = from + (to - from) * Double(step) / Double(count - 1)
            return LoadStage(name: "step \(step + 1)", shape: .hold(rate: rate), duration: time / count)
        }
    }
}
