/// An `apns-id` for push i of a run: a lower-case UUID (RFC 9562 version 8) that is the same for every attempt.
public enum PushID {
    /// Writes 36 bytes.
    public static func write(run: RunID, sequence: UInt64, into output: UnsafeMutablePointer<UInt8>) {
        let high = Mix.number(run.rawValue, sequence, 1) & ~0xF000 | 0x8000
        let low = Mix.number(run.rawValue, sequence, 2) & ~(3 << 62) | 2 << 62
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digits in
            let hex = digits.baseAddress!
            Digits.writeHex(high, into: hex)
            Digits.writeHex(low, into: hex + 16)
            var read = 0
            for position in 0..<36 {
                if position == 8 || position == 13 || position == 18 || position == 23 {
                    output[position] = 0x2D
                } else {
                    output[position] = hex[read]
                    read += 1
                }
            }
        }
    }
}
