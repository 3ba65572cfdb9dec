import Foundation

/// Histograms as bytes, in HdrHistogram's V2 format (ZigZag LEB128 counts), which every HdrHistogram port reads. Nothing is
/// lost: decoding gives the same counts.
public enum HistogramCodec {
    /// What is wrong with bytes that should be a histogram.
    public struct Failure: Error, CustomStringConvertible, Sendable, Equatable {
        public let description: String
    }

    private static let plainCookie: UInt32 = 0x1C84_9313
    private static let compressedCookie: UInt32 = 0x1C84_9314
    private static let headerSize = 40
    /// Counters up to `LatencyHistogram.highest`, at 3 digits.
    private static let mostCounters = 40_000
    /// A million a second for nine years; thousands of such histograms can be added up.
    private static let mostRecords = 1 << 48

    // MARK: Writing

    /// V2, uncompressed.
    public static func encode(_ histogram: LatencyHistogram) -> [UInt8] {
        var counts: [UInt8] = []
        var next = 0
        for (value, count) in histogram.counters {
            let place = LatencyHistogram.place(of: value)
            if place > next { appendNumber(-(place - next), to: &counts) }
            appendNumber(Int(count), to: &counts)
            next = place + 1
        }
        var bytes: [UInt8] = []
        append(plainCookie, to: &bytes)
        append(UInt32(counts.count), to: &bytes)
        append(UInt32(0), to: &bytes)
        append(UInt32(3), to: &bytes)
        append(UInt64(1), to: &bytes)
        append(LatencyHistogram.highest, to: &bytes)
        append((1.0).bitPattern, to: &bytes)
        return bytes + counts
    }

    /// V2 as log files have it: in a zlib stream (RFC 1950), Base64. The stream's blocks are stored, not deflated: every reader
    /// takes it, and the counts are small already.
    package static func encodeForLog(_ histogram: LatencyHistogram) -> String {
        let plain = encode(histogram)
        var stream: [UInt8] = [0x78, 0x01]
        var place = 0
        repeat {
            let count = min(65_535, plain.count - place)
            let isLast = place + count == plain.count
            stream += [
                isLast ? 1 : 0, UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8 & 255),
            ]
            stream += plain[place..<(place + count)]
            place += count
        } while place < plain.count
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in plain {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        append(b << 16 | a, to: &stream)
        var bytes: [UInt8] = []
        append(compressedCookie, to: &bytes)
        append(UInt32(stream.count), to: &bytes)
        return Data(bytes + stream).base64EncodedString()
    }

    private static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    private static func appendNumber(_ number: Int, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: Int64(number << 1 ^ number >> 63))
        for _ in 0..<8 {
            if rest < 128 {
                bytes.append(UInt8(rest))
                return
            }
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    // MARK: Reading

    public static func decode(_ bytes: [UInt8]) throws(Failure) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for (value, count) in try counters(bytes) { histogram.record(value, count: count) }
        return histogram
    }

    /// Each counter that holds something: its lowest value and its count, ascending.
    private static func counters(_ bytes: [UInt8]) throws(Failure) -> [(value: UInt64, count: UInt64)] {
        guard bytes.count >= headerSize, number(bytes, 0, 4) == UInt64(plainCookie) else {
            throw Failure(description: "not an HdrHistogram V2 histogram")
        }
        guard number(bytes, 12, 4) == 3, number(bytes, 16, 8) == 1, Int(number(bytes, 4, 4)) == bytes.count - headerSize
        else { throw Failure(description: "a histogram of another precision, or cut short") }
        var counters: [(value: UInt64, count: UInt64)] = []
        var total: UInt64 = 0
        var place = headerSize
        var counter = 0
        while place < bytes.count {
            let number = try takeNumber(bytes, &place)
            if number < 0 {
                guard number > -mostCounters else { throw Failure(description: "a histogram with too many counters") }
                counter -= number
            } else {
                guard counter < mostCounters, LatencyHistogram.lowest(at: counter) <= LatencyHistogram.highest else {
                    throw Failure(description: "a histogram with values beyond an hour")
                }
                guard number <= mostRecords, total <= UInt64(mostRecords - number) else {
                    throw Failure(description: "a histogram with more than 2^48 records")
                }
                total += UInt64(number)
                if number > 0 { counters.append((LatencyHistogram.lowest(at: counter), UInt64(number))) }
                counter += 1
            }
        }
        return counters
    }

    /// What `encodeForLog` made. Streams that are really deflated are refused: they are not ours.
    public static func decodeFromLog(_ text: String) throws(Failure) -> LatencyHistogram {
        try decode(plain(text))
    }

    /// The counters of what `encodeForLog` made, for who adds them up: a thousandth of a histogram's memory.
    package static func countersFromLog(_ text: String) throws(Failure) -> [(value: UInt64, count: UInt64)] {
        try counters(plain(text))
    }

    /// Without Base64 and the zlib stream.
    private static func plain(_ text: String) throws(Failure) -> [UInt8] {
        guard let data = Data(base64Encoded: text), data.count > 10 else {
            throw Failure(description: "a histogram that is not Base64")
        }
        let bytes = Array(data)
        guard number(bytes, 0, 4) == UInt64(compressedCookie), Int(number(bytes, 4, 4)) == bytes.count - 8 else {
            throw Failure(description: "not an HdrHistogram V2 histogram, or cut short")
        }
        var plain: [UInt8] = []
        var place = 10
        var isLast = false
        while !isLast {
            guard place + 5 <= bytes.count, bytes[place] <= 1 else {
                throw Failure(description: "a histogram that another program has compressed")
            }
            isLast = bytes[place] == 1
            let count = Int(bytes[place + 1]) | Int(bytes[place + 2]) << 8
            guard place + 5 + count <= bytes.count else { throw Failure(description: "a histogram that is cut short") }
            plain += bytes[(place + 5)..<(place + 5 + count)]
            place += 5 + count
        }
        return plain
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt64 {
        bytes[start..<(start + count)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func takeNumber(_ bytes: [UInt8], _ place: inout Int) throws(Failure) -> Int {
        var result: UInt64 = 0
        for step in 0..<9 {
            guard place < bytes.count else { throw Failure(description: "a histogram that is cut short") }
            let byte = UInt64(bytes[place])
            place += 1
            if step == 8 {
                result |= byte << 56
                break
            }
            result |= (byte & 127) << (7 * UInt64(step))
            if byte < 128 { break }
        }
        return Int(bitPattern: UInt(result >> 1)) ^ -Int(result & 1)
    }
}
