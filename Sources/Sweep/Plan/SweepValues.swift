import Scenarios
import Settings

/// Reads the values of a setting: `100,500,1000`, a geometric range `1..16x2`, an arithmetic one `10ms..50ms+10ms`, and lists of
/// these. Values with commas in them are separated by semicolons instead.
enum SweepValues {
    static let forms = "START..ENDxFACTOR or START..END+STEP, such as 1..16x2 or 10..50+10"

    /// - Throws: what is wrong, without the place.
    static func parse(_ text: String, for key: ScenarioKey) throws(SettingsError) -> [String] {
        var values: [String] = []
        for part in text.split(separator: text.contains(";") ? ";" : ",", omittingEmptySubsequences: false) {
            let item = trimmed(part)
            guard !item.isEmpty else { throw SettingsError("\"\(text)\" has an empty value") }
            values += try expand(item, for: key)
            guard values.count <= SweepAxis.most else {
                throw SettingsError("more than \(SweepAxis.most) values: expected at most that")
            }
        }
        return values
    }

    /// One value, or those of a range; texts have no ranges.
    static func expand(_ item: String, for key: ScenarioKey) throws(SettingsError) -> [String] {
        guard let number = SweepNumber(key), let dots = item.range(of: "..") else { return [item] }
        let wrong = SettingsError("\"\(item)\" is not a range; expected \(forms)")
        let rest = item[dots.upperBound...]
        /// What is wrong with the number itself is said first.
        func read(_ text: String) throws(SettingsError) -> Double {
            if let value = number.read(text) { return value }
            guard !text.isEmpty, text.allSatisfy({ $0.isNumber || $0 == "." }) else { throw wrong }
            var scratch = Scenario()
            do throws(SettingsError) { try key.apply([text], to: &scratch) } catch {
                throw SettingsError("\"\(item)\": \(error)")
            }
            throw wrong
        }
        guard let sign = rest.lastIndex(where: { $0 == "x" || $0 == "+" }) else { throw wrong }
        let first = try read(trimmed(item[..<dots.lowerBound]))
        let last = try read(trimmed(rest[..<sign]))
        guard first <= last else { throw SettingsError("\"\(item)\": a range goes upwards") }
        let step = trimmed(rest[rest.index(after: sign)...])
        if rest[sign] == "+" {
            let step = try read(step)
            guard step > 0 else { throw SettingsError("\"\(item)\": expected a step above 0") }
            return try collect(item, number, upTo: last) { first + Double($0) * step }
        }
        guard let factor = (try? Units.rate(step)) else { throw wrong }
        guard factor > 1 else { throw SettingsError("\"\(item)\": expected a factor above 1") }
        guard first > 0 else { throw SettingsError("\"\(item)\": a range with a factor begins above 0") }
        var powers = [first]
        return try collect(item, number, upTo: last) { index in
            while powers.count <= index { powers.append(powers[powers.count - 1] * factor) }
            return powers[index]
        }
    }

    private static func collect(
        _ item: String, _ number: SweepNumber, upTo last: Double, _ value: (Int) -> Double
    ) throws(SettingsError) -> [String] {
        var texts: [String] = []
        var index = 0
        // A billionth more, because powers of a fraction are not exact.
        while case let next = value(index), next <= last * (1 + 1e-9) {
            let text = number.write(next)
            // Small whole numbers with a factor below 2 may be rounded to the same.
            if text != texts.last { texts.append(text) }
            index += 1
            guard index <= SweepAxis.most * 10, texts.count <= SweepAxis.most else {
                throw SettingsError("\"\(item)\": more than \(SweepAxis.most) values")
            }
        }
        return texts
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
