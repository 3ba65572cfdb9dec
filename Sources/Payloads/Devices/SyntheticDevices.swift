import CVector

/// Devices without a list: device i's 64-digit token follows from the seed and i, and the other way round, so that the
/// mock can tell whether a token is registered without storing any. Not cryptography: anyone can forge one.
///
/// A token is four 64-bit words in hexadecimal: the first is a seeded bijection of i, the other three are mixed from it
/// and check it (192 bits). Cost: about 10 ns to write, 25 ns to check.
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
        pushload_write_hex(first, check(first, 1), output)
        pushload_write_hex(check(first, 2), check(first, 3), output + 32)
    }

    /// The device behind a token; nil when the token is not registered.
    public func index(ofToken token: UnsafeRawBufferPointer) -> UInt64? {
        guard token.count == Self.tokenLength,
            let text = token.baseAddress?.assumingMemoryBound(to: UInt8.self),
            let first = HexDigits.read(text), HexDigits.read(text + 16) == check(first, 1),
            HexDigits.read(text + 32) == check(first, 2), HexDigits.read(text + 48) == check(first, 3)
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

    /// Before the device's number in its first tag.
    static let userTag = "username:user"
    private static let texts: [[String]] = [
        ["RedSox", "Cardinals", "Yankees", "Cubs", "Dodgers", "Giants", "Mets", "Braves"].map { "follows_" + $0 },
        ["Boston", "St.Louis", "NewYork", "Chicago", "LosAngeles", "Berlin", "Tokyo", "Lagos"].map { "location_" + $0 },
        ["en", "es", "de", "ja", "fr", "pt", "it", "ko"].map { "lang_" + $0 },
    ]

    /// Tags a device has: its user, a team it follows, where it is, its language.
    public static let tagCount = 4

    /// The eight texts tag `number` can be; nil for the first, which every device has its own of, and where there is none.
    static func tagTexts(_ number: Int) -> [String]? {
        (1..<tagCount).contains(number) ? texts[number - 1] : nil
    }

    static func tagSalt(_ number: Int) -> UInt64 { Mix.salt(UInt64(10 + number)) }

    /// Which of its eight texts tag `number` of a device is.
    @inline(__always)
    func tagChoice(_ index: UInt64, salt: UInt64) -> UInt64 { Mix.finalise(Mix.base(key, index) &+ salt) & 7 }

    /// The device's tags.
    public func tags(_ index: UInt64) -> [String] {
        (0..<Self.tagCount).map { number in
            String(unsafeUninitializedCapacity: DevicePopulation.longestTag) {
                writeTag(index, number, into: $0.baseAddress!)
            }
        }
    }

    /// Writes tag `number` (0…3) of a device, nothing when there is no such tag; returns its length.
    func writeTag(_ index: UInt64, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        if number == 0 {
            let start = Self.put(Self.userTag, output)
            return start + Digits.writeDecimal(index, into: output + start)
        }
        guard let texts = Self.tagTexts(number) else { return 0 }
        return Self.put(texts[Int(tagChoice(index, salt: Self.tagSalt(number)))], output)
    }

    private static func put(_ text: String, _ output: UnsafeMutablePointer<UInt8>) -> Int {
        var length = 0
        for byte in text.utf8 {
            output[length] = byte
            length += 1
        }
        return length
    }
}
