/// Reading and writing numbers with units, in one place.
public enum Units {
    /// What is wrong with a text, and what would be right.
    public struct ParseError: Error, CustomStringConvertible, Sendable, Equatable {
        public let description: String
        /// It is of the right form, and too large.
        package var isTooLarge = false
    }

    // MARK: Reading

    /// A count: `10000`, `10_000`, `10k`, `2.5M`, `1G` (powers of 1,000). The result is a whole number.
    public static func count(_ text: String) throws(ParseError) -> UInt64 {
        let factors: [Character: Double] = ["k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "g": 1e9, "G": 1e9]
        let wrong = ParseError(
            description: "\"\(text)\" is not a count; expected a whole number such as 5000, 10k or 1.5M")
        var digits = text.filter { $0 != "_" }
        var factor = 1.0
        if let last = digits.last, let known = factors[last] {
            factor = known
            digits.removeLast()
        }
        if factor == 1, let whole = UInt64(digits) { return whole }
        if factor == 1, !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) {
            throw ParseError(description: "\"\(text)\" is too large; expected at most \(UInt64.max)")
        }
        guard let value = plainNumber(digits) else { throw wrong }
        let result = (value * factor).rounded()
        guard abs(result - value * factor) < 1e-6 * max(result, 1), result < 1e18 else { throw wrong }
        return UInt64(result)
    }

    /// A rate, pushes a second: a count that may have a fraction.
    public static func rate(_ text: String) throws(ParseError) -> Double {
        let factors: [Character: Double] = ["k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "g": 1e9, "G": 1e9]
        var digits = text.filter { $0 != "_" }
        if digits.hasSuffix("/s") { digits.removeLast(2) }
        var factor = 1.0
        if let last = digits.last, let known = factors[last] {
            factor = known
            digits.removeLast()
        }
        guard let value = plainNumber(digits) else {
            throw ParseError(
                description: "\"\(text)\" is not a rate; expected pushes a second such as 500, 20k or 1.5M")
        }
        return value * factor
    }

    /// A duration in nanoseconds: `500ms`, `10s`, `1m30s`, `2h`; only 0 needs no unit.
    public static func duration(_ text: String) throws(ParseError) -> UInt64 {
        let wrong = ParseError(
            description: "\"\(text)\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h")
        let units: [(String, Double)] = [
            ("ns", 1), ("us", 1e3), ("\u{B5}s", 1e3), ("\u{3BC}s", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9),
            ("h", 3600e9),
        ]
        if let bare = plainNumber(text) {
            guard bare == 0 else {
                throw ParseError(
                    description: "\"\(text)\" has no unit; write \(text)us, \(text)ms, \(text)s or \(text)m")
            }
            return 0
        }
        var rest = Substring(text)
        var total = 0.0
        guard !rest.isEmpty else { throw wrong }
        while !rest.isEmpty {
            let number = rest.prefix { $0.isNumber || $0 == "." }
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let value = plainNumber(String(number)), let factor = units.first(where: { $0.0 == unit })?.1 else {
                throw wrong
            }
            total += value * factor
        }
        guard total < 1e18 else {
            throw ParseError(description: "\"\(text)\" is too large; expected less than 277777h", isTooLarge: true)
        }
        return UInt64(total.rounded())
    }

    /// A size in bytes: `64KiB`, `1MiB`, `2GiB` (powers of 1,024), `64kB`, `200MB`, `2GB` (powers of 1,000), `65535B`, whatever
    /// the case; only 0 needs no unit.
    public static func bytes(_ text: String) throws(ParseError) -> Int {
        let wrong = ParseError(
            description: "\"\(text)\" is not a size; expected for example 64KiB, 1MiB, 200MB or 65535B")
        let lower = text.lowercased()
        let units: [(String, Double)] = [
            ("kib", 1024), ("mib", 1_048_576), ("gib", 1_073_741_824), ("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("b", 1),
        ]
        guard let (unit, factor) = units.first(where: { lower.hasSuffix($0.0) }) else {
            if plainNumber(text) == 0 { return 0 }
            if plainNumber(text) != nil {
                throw ParseError(description: "\"\(text)\" has no unit; write \(text)B, \(text)KiB or \(text)MiB")
            }
            let digits = String(text.dropLast())
            if let last = lower.last, "kmg".contains(last), plainNumber(digits) != nil {
                let letter = last == "k" ? "K" : last.uppercased()
                throw ParseError(
                    description: "\"\(text)\" has no unit; write \(digits)\(letter)iB (powers of 1,024) or "
                        + "\(digits)\(last == "k" ? "k" : letter)B (of 1,000)")
            }
            throw wrong
        }
        guard let value = plainNumber(String(lower.dropLast(unit.count))), value * factor < 1e15,
            (value * factor).rounded() == value * factor
        else { throw wrong }
        return Int(value * factor)
    }

    /// A share of 1: `2%`, `0.5%` or `0.005`; from 0 to 1.
    public static func share(_ text: String) throws(ParseError) -> Double {
        if ["true", "yes", "on"].contains(text) {
            throw ParseError(
                description: "\"\(text)\" is not a share; expected 100% for all, or for example 2% or 0.02")
        }
        let isPercent = text.hasSuffix("%")
        guard let value = plainNumber(isPercent ? String(text.dropLast()) : text), value <= (isPercent ? 100 : 1) else {
            throw ParseError(description: "\"\(text)\" is not a share; expected for example 2% or 0.02, at most 100%")
        }
        return isPercent ? value / 100 : value
    }

    /// Bits a second as bytes a second: `100Mbit/s`, `512kbit/s`, `1Gbit/s`; also bytes: `64KiB/s`, `1MB/s`. Of bits the `/s` may
    /// be left out.
    public static func bandwidth(_ text: String) throws(ParseError) -> Double {
        let wrong = ParseError(
            description: "\"\(text)\" is not a bandwidth; expected for example 100Mbit/s, 512kbit/s or 1MiB/s")
        let amount = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
        for (suffix, bits) in [("Gbit", 1e9), ("Mbit", 1e6), ("kbit", 1e3), ("bit", 1)] where amount.hasSuffix(suffix) {
            guard let value = plainNumber(String(amount.dropLast(suffix.count))), value > 0 else { throw wrong }
            return value * bits / 8
        }
        guard text.hasSuffix("/s"), let value = try? bytes(amount), value > 0 else { throw wrong }
        return Double(value)
    }

    /// Digits with at most one point; no sign, no exponent.
    private static func plainNumber(_ text: String) -> Double? {
        guard let first = text.utf8.first, (48...57).contains(first),
            text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 })
        else { return nil }
        return Double(text)
    }

    // MARK: Writing

    /// The shortest text that `count` reads the same of: `10M`, `20k`, `1500`.
    public static func written(count: UInt64) -> String {
        if count >= 1_000_000, count % 1_000_000 == 0 { return "\(count / 1_000_000)M" }
        return count >= 10_000 && count % 1000 == 0 ? "\(count / 1000)k" : "\(count)"
    }

    /// The same of `duration`, without minutes and hours: `90s`, `1500ms`.
    public static func written(duration nanoseconds: UInt64) -> String {
        let units: [(UInt64, String)] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")]
        let (size, unit) = units.first { nanoseconds % $0.0 == 0 } ?? (1, "ns")
        return "\(nanoseconds / size)\(unit)"
    }

    /// The same of `bytes`: `64KiB`, `65535B`.
    public static func written(bytes: Int) -> String {
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        let (size, unit) = units.first { bytes >= $0.0 && bytes % $0.0 == 0 } ?? (1, "B")
        return "\(bytes / size)\(unit)"
    }

    /// `1,234,567`.
    package static func grouped(_ value: UInt64) -> String {
        var digits = Array(String(value))
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: place)
            place -= 3
        }
        return String(digits)
    }

    /// `p50, p90 and p99`.
    public static func listed(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }

    /// `1 push`, `1,234 pushes`, `0 retries`.
    public static func counted(_ count: some BinaryInteger, _ noun: String) -> String {
        let number = grouped(UInt64(clamping: count))
        if count == 1 { return "\(number) \(noun)" }
        if ["s", "x", "sh", "ch"].contains(where: noun.hasSuffix) { return "\(number) \(noun)es" }
        return "\(number) \(noun.hasSuffix("ry") ? noun.dropLast() + "ies" : noun + "s")"
    }

    /// Events a second: `199.5/s`, `200/s`, `1,234/s`; tenths below 1,000 only.
    public static func perSecond(_ value: Double) -> String {
        guard value.isFinite, value >= 0 else { return "-" }
        guard value < 999.95 else { return "\(grouped(UInt64(Swift.min(value, 1e18).rounded())))/s" }
        let text = fixed(value, places: 1)
        return "\(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)/s"
    }

    /// Nanoseconds with three significant digits and a unit: `870 ns`, `1.23 ms`, `2.50 s`.
    public static func duration(nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1e3: significant(nanoseconds, "ns")
        case ..<1e6: significant(nanoseconds / 1e3, "us")
        case ..<1e9: significant(nanoseconds / 1e6, "ms")
        default: significant(nanoseconds / 1e9, "s")
        }
    }

    private static func significant(_ value: Double, _ unit: String) -> String {
        let places = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
        return "\(fixed(value, places: places)) \(unit)"
    }

    /// How far a ratio is from 1: `8.1 %`; above 2 the factor, `2.4 times`, from 10 on `1,897 times`.
    package static func change(_ ratio: Double) -> String {
        guard ratio > 2 else { return "\(fixed(abs(ratio - 1) * 100, places: 1)) %" }
        return ratio < 9.95
            ? "\(fixed(ratio, places: 1)) times" : "\(grouped(UInt64(Swift.min(ratio, 1e15).rounded()))) times"
    }

    /// A verdict with its size: `slower by 8.1 %`, `slower: 16 times`.
    package static func verdict(_ word: String, _ ratio: Double) -> String {
        "\(word)\(ratio > 2 ? ":" : " by") \(change(ratio))"
    }

    /// `1m 05s`, `12s`, `2h 03m`.
    public static func clock(seconds: Double) -> String {
        let whole = seconds.isNaN ? 0 : Int(min(max(0, seconds.rounded()), 1e15))
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        if whole < 60 { return "\(whole)s" }
        if whole < 3600 { return "\(whole / 60)m \(two(whole % 60))s" }
        return "\(whole / 3600)h \(two(whole % 3600 / 60))m"
    }

    /// `12.3 MB` (powers of 1,000).
    public static func bytes(_ count: UInt64) -> String {
        let value = Double(count)
        switch value {
        case ..<1e3: return "\(count) B"
        case ..<1e6: return "\(fixed(value / 1e3, places: 1)) kB"
        case ..<1e9: return "\(fixed(value / 1e6, places: 1)) MB"
        default: return "\(fixed(value / 1e9, places: 2)) GB"
        }
    }

    /// A number with so many decimal places, without the locale's business.
    public static func fixed(_ value: Double, places: Int) -> String {
        guard value.isFinite else { return "-" }
        var factor = 1.0
        for _ in 0..<places { factor *= 10 }
        let scaled = (abs(value) * factor).rounded()
        guard scaled < 9e18 else { return "\(value)" }
        var digits = String(UInt64(scaled))
        while digits.count <= places { digits = "0" + digits }
        let whole = digits.dropLast(places)
        let sign = value < 0 && scaled > 0 ? "-" : ""
        return places == 0 ? sign + digits : "\(sign)\(whole).\(digits.suffix(places))"
    }
}
