/// Hashes of bytes, 64 bits. Not for secrets: what is found by them is compared.
enum ByteHash {
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always)
    static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* factor
        return product ^ (product >> 32)
    }

    /// At most 7 bytes as a word, the first lowest.
    @inline(__always)
    private static func tail(_ base: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        var word: UInt64 = 0
        var index = count - 1
        while index >= 0 {
            word = word << 8 | UInt64(base[index])
            index -= 1
        }
        return word
    }

    /// - Parameter setting: bits set in every byte before: 0x20 makes the letters a to f and A to F, and each digit, the same.
    @inline(__always)
    static func of(_ base: UnsafePointer<UInt8>, _ count: Int, setting: UInt8 = 0) -> UInt64 {
        let set = UInt64(setting) &* 0x0101_0101_0101_0101
        var hash = UInt64(truncatingIfNeeded: count) &* factor
        var done = 0
        while done + 8 <= count {
            let word = UnsafeRawPointer(base + done).loadUnaligned(as: UInt64.self)
            hash = mix(hash, UInt64(littleEndian: word) | set)
            done += 8
        }
        if done < count { hash = mix(hash, tail(base + done, count - done) | set) }
        hash = (hash ^ (hash >> 29)) &* 0xBF58_476D_1CE4_E5B9
        return hash ^ (hash >> 32)
    }

    /// Of whole words, several at once, about 8 bytes a cycle: tells damage, not intent.
    static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var lanes: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
        let whole = bytes.count / 32
        if let base = bytes.baseAddress {
            for block in 0..<whole {
                let at = base + block * 32
                lanes.0 = (lanes.0 ^ at.loadUnaligned(as: UInt64.self)) &* factor
                lanes.1 = (lanes.1 ^ (at + 8).loadUnaligned(as: UInt64.self)) &* factor
                lanes.2 = (lanes.2 ^ (at + 16).loadUnaligned(as: UInt64.self)) &* factor
                lanes.3 = (lanes.3 ^ (at + 24).loadUnaligned(as: UInt64.self)) &* factor
                // Without it the highest bits would only ever move up and out.
                if block & 0xF == 0xF {
                    lanes.0 ^= lanes.0 >> 31
                    lanes.1 ^= lanes.1 >> 31
                    lanes.2 ^= lanes.2 >> 31
                    lanes.3 ^= lanes.3 >> 31
                }
            }
            for index in whole * 32..<bytes.count {
                lanes.0 = (lanes.0 ^ UInt64(base.load(fromByteOffset: index, as: UInt8.self))) &* factor
            }
        }
        return [lanes.1, lanes.2, lanes.3, UInt64(bytes.count)].reduce(lanes.0) { mix($0, $1) }
    }
}
