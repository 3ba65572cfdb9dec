import Glibc

/// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): equal texts have equal hashes, and without the
/// key nobody finds out which text a hash is of.
package struct KeyedHash: Sendable {
    private let first: UInt64
    private let second: UInt64

    package init(_ first: UInt64, _ second: UInt64) { (self.first, self.second) = (first, second) }

    /// A key that nobody knows, drawn from the system.
    package static func random() -> KeyedHash {
        KeyedHash(.random(in: .min ... .max), .random(in: .min ... .max))
    }

    private struct State {
        var (v0, v1, v2, v3): (UInt64, UInt64, UInt64, UInt64)

        @inline(__always)
        private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word &<< bits | word &>> (64 &- bits) }

        @inline(__always)
        mutating func round() {
            v0 &+= v1
            v1 = Self.rotated(v1, 13) ^ v0
            v0 = Self.rotated(v0, 32)
            v2 &+= v3
            v3 = Self.rotated(v3, 16) ^ v2
            v0 &+= v3
            v3 = Self.rotated(v3, 21) ^ v0
            v2 &+= v1
            v1 = Self.rotated(v1, 17) ^ v2
            v2 = Self.rotated(v2, 32)
        }

        @inline(__always)
        mutating func take(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }
    }

    /// - Parameter setting: bits set in every byte before: 0x20 makes the letters a to f and A to F, and each digit, the same.
    package func hash(_ text: UnsafeRawBufferPointer, setting: UInt8 = 0) -> UInt64 {
        var state = State(
            v0: first ^ 0x736F_6D65_7073_6575, v1: second ^ 0x646F_7261_6E64_6F6D, v2: first ^ 0x6C79_6765_6E65_7261,
            v3: second ^ 0x7465_6462_7974_6573)
        let set = UInt64(setting) &* 0x0101_0101_0101_0101
        let whole = text.count & ~7
        for place in stride(from: 0, to: whole, by: 8) {
            state.take(UInt64(littleEndian: text.loadUnaligned(fromByteOffset: place, as: UInt64.self)) | set)
        }
        var last = UInt64(truncatingIfNeeded: text.count) &<< 56
        for place in whole..<text.count { last |= UInt64(text[place] | setting) &<< UInt64((place &- whole) &* 8) }
        state.take(last)
        state.v2 ^= 0xFF
        for _ in 0..<4 { state.round() }
        return state.v0 ^ state.v1 ^ state.v2 ^ state.v3
    }
}
