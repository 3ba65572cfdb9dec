/// The custom key beside `aps` by which each single push is followed from generator to mock:
/// `"pushload-trace":"<run id, 16 hexadecimal digits>-<sequence, decimal>"`.
public enum TraceTag {
    public static let key = "pushload-trace"
    /// Most bytes of the value.
    public static let capacity = 16 + 1 + 20

    /// Writes the value; returns its length.
    @inline(__always)
    public static func write(run: RunID, sequence: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        Digits.writeHex(run.rawValue, into: output)
        output[16] = 0x2D
        return 17 &+ Digits.writeDecimal(sequence, into: output + 17)
    }

    /// Reads a value; nil when it is not one.
    public static func parse(_ value: UnsafeRawBufferPointer) -> (run: RunID, sequence: UInt64)? {
        guard value.count >= 18, value.count <= capacity, value[16] == 0x2D,
            let bytes = value.baseAddress?.assumingMemoryBound(to: UInt8.self), let run = HexDigits.read(bytes)
        else { return nil }
        var sequence: UInt64 = 0
        var index = 17
        if value.count <= 25 {
            guard let short = Digits.readShort(before: bytes + value.count, count: value.count &- 17) else {
                return nil
            }
            return (RunID(run), short)
        }
        // Nineteen digits are always within 64 bits.
        while index < min(value.count, 36) {
            let digit = bytes[index] &- 48
            guard digit < 10 else { return nil }
            sequence = sequence &* 10 &+ UInt64(digit)
            index &+= 1
        }
        if value.count == capacity {
            let digit = bytes[36] &- 48
            let (product, overflow) = sequence.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            if digit > 9 || overflow || carry { return nil }
            sequence = sum
        }
        return (RunID(run), sequence)
    }
}
