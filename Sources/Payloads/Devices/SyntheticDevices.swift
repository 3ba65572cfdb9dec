/// Devices without a list: device i's 64-digit token follows from the seed and i, and the other way round, so that the
/// mock can tell whether a token is registered without storing any. Not cryptography: anyone can forge one.
///
/// A token is four 64-bit words in hexadecimal: the first is a seeded bijection of i, the other three are mixed from it
/// and check it (192 bits). Cost: about 15 ns to write, 25 ns to check.
public struct SyntheticDevices: Sendable, Equatable {
    public let seed: UInt64
    /// How many devices there are; all with an index below are registered.
    public let count: UInt64
    private let key: UInt64

    /// Digits of a token.
    public static let tokenLength = 64

    public init(seed: UInt64, count: UInt64) {
        self.seed = seed
        self.count = count
        key = Mix.finalise(seed ^ 0x7075_7368_6C6F_6164)
    }

    @inline(__always)
    private func check(_ word: UInt64, _ number: UInt64) -> UInt64 { Mix.number(key, word, number) }

    /// Writes 64 digits.
    @inline(__always)
    public func writeToken(_ index: UInt64, into output: UnsafeMutablePointer<UInt8>) {
        let first = Mix.finalise(index ^ key)
        Digits.writeHex(first, into: output)
        Digits.writeHex(check(first, 1), into: output + 16)
        Digits.writeHex(check(first, 2), into: output + 32)
        Digits.writeHex(check(first, 3), into: output + 48)
    }

    /// The device behind a token; nil when the token is not registered.
    public func index(ofToken token: UnsafeRawBufferPointer) -> UInt64? {
        guard token.count == Self.tokenLength,
            let text = token.baseAddress?.assumingMemoryBound(to: UInt8.self),
            let first = Digits.readHex(text), Digits.readHex(text + 16) == check(first, 1),
            Digits.readHex(text + 32) == check(first, 2), Digits.readHex(text + 48) == check(first, 3)
        else { return nil }
        let index = Mix.unfinalise(first) ^ key
        return index < count ? index : nil
    }

    /// The token as text.
    public func token(_ index: UInt64) -> String {
        String(unsafeUninitializedCapacity: Self.tokenLength) {
            writeToken(index, into: $0.baseAddress!)
            return Self.tokenLength
        }
    }

    private static let teams = ["RedSox", "Cardinals", "Yankees", "Cubs", "Dodgers", "Giants", "Mets", "Braves"]
    private static let cities = ["Boston", "St.Louis", "NewYork", "Chicago", "LosAngeles", "Berlin", "Tokyo", "Lagos"]
    private static let languages = ["en", "es", "de", "ja", "fr", "pt"]

    /// The device's tags: its user, a team it follows, where it is, its language.
    public func tags(_ index: UInt64) -> [String] {
        func pick(_ list: [String], _ number: UInt64) -> String {
            list[Int(Mix.bounded(Mix.number(key, index, number), UInt64(list.count)))]
        }
        return [
            "username:user\(index)", "follows_\(pick(Self.teams, 11))", "location_\(pick(Self.cities, 12))",
            "lang_\(pick(Self.languages, 13))",
        ]
    }

    /// Writes tag `number` (0…3) of a device, nothing when there is no such tag; returns its length.
    func writeTag(_ index: UInt64, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        func put(_ text: String, at offset: Int) -> Int {
            var length = offset
            for byte in text.utf8 {
                output[length] = byte
                length += 1
            }
            return length
        }
        func pick(_ list: [String], _ salt: UInt64) -> String {
            list[Int(Mix.bounded(Mix.number(key, index, salt), UInt64(list.count)))]
        }
        switch number {
        case 0:
            let start = put("username:user", at: 0)
            return start + Digits.writeDecimal(index, into: output + start)
        case 1: return put(pick(Self.teams, 11), at: put("follows_", at: 0))
        case 2: return put(pick(Self.cities, 12), at: put("location_", at: 0))
        case 3: return put(pick(Self.languages, 13), at: put("lang_", at: 0))
        default: return 0
        }
    }
}
