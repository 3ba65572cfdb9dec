import CNghttp2
import Testing

@testable import HTTP2

@Suite struct HPACKHuffmanEncoderTests {
    private static func encode(_ text: [UInt8]) -> [UInt8]? {
        // Memory of exactly the sizes that are promised.
        let input = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(text.count, 1))
        _ = input.update(from: text)
        defer { input.deallocate() }
        let output = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count + 8)
        defer { output.deallocate() }
        guard
            let count = HPACKHuffmanEncoder().encode(input.baseAddress!, text.count, into: output.baseAddress!)
        else { return nil }
        return Array(output[..<count])
    }

    /// What nghttp2 makes of a literal with this coded value.
    private static func inflate(_ coded: [UInt8]) -> [UInt8]? {
        var created: OpaquePointer?
        nghttp2_hd_inflate_new(&created)
        defer { nghttp2_hd_inflate_del(created) }
        var block: [UInt8] = [0x04]
        if coded.count < 127 {
            block.append(0x80 | UInt8(coded.count))
        } else {
            block.append(0xFF)
            var rest = coded.count - 127
            while rest >= 128 {
                block.append(UInt8(rest & 127) | 128)
                rest >>= 7
            }
            block.append(UInt8(rest))
        }
        block += coded
        var field = nghttp2_nv()
        var flags: Int32 = 0
        let used = block.withUnsafeBufferPointer {
            nghttp2_hd_inflate_hd2(created, &field, &flags, $0.baseAddress!, block.count, 1)
        }
        guard used == block.count, UInt32(bitPattern: flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 else { return nil }
        return Array(UnsafeBufferPointer(start: field.value, count: field.valuelen))
    }

    /// The length the code of a string must have, in bytes.
    private static func length(_ text: [UInt8]) -> Int {
        (text.reduce(0) { $0 + Int(HPACKHuffman.lengths[Int($1)]) } + 7) / 8
    }

    @Test("What is coded, nghttp2's inflater reads back, and what would not be shorter is not coded")
    func property() {
        var numbers = SeededNumbers()
        let alphabets: [[UInt8]] = [
            Array("0123456789abcdef".utf8), Array("0123456789ABCDEF".utf8), Array("eyJhbGciOi.-_ZkMQ7".utf8),
            Array("com.example.app".utf8), (32..<127).map { UInt8($0) }, (0...255).map { UInt8($0) },
            Array("a{}\\^|<\u{1}".utf8),
        ]
        var coded = 0
        for round in 0..<6000 {
            let alphabet = alphabets[numbers.next(alphabets.count)]
            let text = (0..<numbers.next(round % 50 == 0 ? 2000 : 100)).map { _ in
                alphabet[numbers.next(alphabet.count)]
            }
            let length = Self.length(text)
            guard let bytes = Self.encode(text) else {
                #expect(length >= text.count, "seed \(numbers.seed) round \(round)")
                continue
            }
            coded += 1
            #expect(bytes.count == length && length < text.count, "seed \(numbers.seed) round \(round)")
            #expect(Self.inflate(bytes) == text, "seed \(numbers.seed) round \(round)")
        }
        #expect(coded > 1000, "seed \(numbers.seed)")
    }

    @Test("Every single byte and every pair is coded as the table says")
    func pairs() {
        // Shorter with plenty of short codes behind.
        let tail = [UInt8](repeating: 0x61, count: 20)
        for first in UInt8.min ... .max {
            for second in [first, 0x00, 0x30, 0x66, 0x7E, 0xFF, first &* 37 &+ 11] {
                let text = [first, second] + tail
                let bytes = Self.encode(text)
                #expect(bytes.map(Self.inflate) == text, "\(first) \(second)")
            }
        }
    }

    @Test("RFC 7541's own examples come out as they are printed there")
    func examples() {
        // Appendix C.4.1, C.4.2, C.4.3 and C.6.1.
        for (text, bytes) in [
            ("www.example.com", [0xF1, 0xE3, 0xC2, 0xE5, 0xF2, 0x3A, 0x6B, 0xA0, 0xAB, 0x90, 0xF4, 0xFF]),
            ("no-cache", [0xA8, 0xEB, 0x10, 0x64, 0x9C, 0xBF]),
            ("custom-key", [0x25, 0xA8, 0x49, 0xE9, 0x5B, 0xA9, 0x7D, 0x7F]),
            ("302", [0x64, 0x02]),
        ] as [(String, [UInt8])] {
            #expect(Self.encode(Array(text.utf8)) == bytes, "\(text)")
        }
        #expect(Self.encode([]) == nil)
    }
}
