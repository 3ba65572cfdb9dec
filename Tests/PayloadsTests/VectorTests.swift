import CVector
import Foundation
import Testing

@testable import Payloads

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

    @Test("Base64 of every length, beside Foundation's, stays within its digits, with a printed seed")
    func base64() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        let base64 = Base64()
        // Twelve bytes are a look at sixteen: each place, and each ending, several times.
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
            let expected = Array(Data(bytes).base64EncodedData())
            for isPlain in [false, true] {
                var text = [UInt8](repeating: 0xA5, count: expected.count + 16)
                let written =
                    isPlain ? base64.encodePlainly(bytes, count, into: &text) : base64.encode(bytes, count, into: &text)
                #expect(Array(text[..<written]) == expected, "\(count) bytes, seed \(seed)")
                #expect(text[expected.count...].allSatisfy { $0 == 0xA5 }, "\(count) bytes")
            }
        }
        // Every digit in every place of the sixteen.
        for place in 0..<16 {
            for number in 0..<64 {
                var numbers = [Int](repeating: 63 - number, count: 32)
                numbers[place] = number
                let bytes = stride(from: 0, to: 32, by: 4).flatMap { place -> [UInt8] in
                    let word = numbers[place..<(place + 4)].reduce(0) { $0 << 6 | $1 }
                    return [UInt8(word >> 16), UInt8(word >> 8 & 255), UInt8(word & 255)]
                }
                var text = [UInt8](repeating: 0, count: 32)
                #expect(base64.encode(bytes, 24, into: &text) == 32)
                #expect(text == Array(Data(bytes).base64EncodedData()))
            }
        }
    }
}
