import CVector
import Testing

/// What is done with sixteen bytes at once, beside the same byte by byte.
@Suite struct VectorTests {
    @Test("Every byte in every place is found by both or by neither")
    func everyByte() {
        let pairs: [(UnsafePointer<UInt8>) -> Bool] = [
            { pushload_special($0) == pushload_special_plainly($0) },
            { pushload_no_digits($0) == pushload_no_digits_plainly($0) },
            { pushload_no_decimals($0) == pushload_no_decimals_plainly($0) },
            { pushload_controls($0) == pushload_controls_plainly($0) },
        ]
        for filler: UInt8 in [0x00, 0x22, 0x30, 0x61, 0xFF] {
            for place in 0..<16 {
                for byte in UInt8.min ... .max {
                    var bytes = [UInt8](repeating: filler, count: 16)
                    bytes[place] = byte
                    let others = [UInt8](repeating: filler, count: 16)
                    #expect(
                        pushload_differences(bytes, others) == pushload_differences_plainly(bytes, others)
                            && pushload_differences(bytes, others) == (byte == filler ? 0 : 1 << UInt32(place)))
                    for (number, agrees) in pairs.enumerated() {
                        #expect(agrees(bytes), "\(number): byte \(byte) at \(place) among \(filler)")
                    }
                }
            }
        }
    }

    @Test("Two numbers as hexadecimal digits, with a printed seed")
    func hexadecimal() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        for _ in 0..<10_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let numbers = (state, state.byteSwapped ^ 0x0123_4567_89AB_CDEF)
            var text = [UInt8](repeating: 0, count: 32)
            var plain = text
            pushload_write_hex(numbers.0, numbers.1, &text)
            pushload_write_hex_plainly(numbers.0, numbers.1, &plain)
            let expected = [numbers.0, numbers.1].map { number in
                let digits = String(number, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }
            #expect(text == plain && text == Array(expected.joined().utf8), "seed \(seed)")
        }
    }
}
