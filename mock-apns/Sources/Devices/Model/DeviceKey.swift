import Payloads

/// A device token's hash over its digits in lower case: what is kept of it where there are many. Two of ten million have the same
/// with a probability of 3 in a million, and then count as one device.
package struct DeviceKey: Hashable, Sendable {
    package let word: UInt64

    init(word: UInt64) { self.word = word }

    package init(_ token: UnsafeRawBufferPointer) {
        var hash = UInt64(token.count)
        var place = 0
        while place + 8 <= token.count {
            let eight = token.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian
            // Digits have this bit already, letters become lower case.
            hash = Mix.finalise((hash ^ (eight | 0x2020_2020_2020_2020)) &+ 0x9E37_79B9_7F4A_7C15)
            place += 8
        }
        while place < token.count {
            hash = Mix.finalise((hash ^ UInt64(token[place] | 0x20)) &+ 0x9E37_79B9_7F4A_7C15)
            place += 1
        }
        word = hash
    }

    /// One of `count` places, from 0, with as many devices in each.
    package func share(of count: Int) -> Int { Int(word.multipliedFullWidth(by: UInt64(count)).high) }

    package init(_ token: String) {
        var token = token
        self = token.withUTF8 { DeviceKey(UnsafeRawBufferPointer($0)) }
    }
}
