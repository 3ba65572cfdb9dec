import Testing

@testable import HTTP2

/// Header blocks that come again and again, of which only the first one goes through the inflater.
@Suite struct RepeatedHeadTests {
    /// What an answer says, by its fields; these tests' blocks hold no others.
    private func head(_ fields: [DecodedField]) -> (status: UInt16, length: Int32) {
        var (status, length, isWrong): (UInt16, Int32, Bool) = (0, -1, false)
        for (place, field) in fields.enumerated() {
            let value = String(decoding: field.value, as: UTF8.self)
            switch String(decoding: field.name, as: UTF8.self) {
            case ":status":
                if place > 0 { isWrong = true } else { status = UInt16(value)! }
            case "content-length":
                if length >= 0 { isWrong = true } else { length = Int32(value)! }
            default: break
            }
        }
        return (isWrong ? StatusDecoder.malformed : status, length)
    }

    /// Any representation of a few fields, some of them by entries that may be there or not.
    private func block(_ numbers: inout SeededNumbers) -> [UInt8] {
        var output: [UInt8] = []
        func write(_ name: Int, _ value: String, _ numbers: inout SeededNumbers) {
            let form = numbers.next(3)
            HPACKWriter.integer(
                name, prefix: form == 2 ? 6 : 4, first: form == 2 ? 0x40 : form == 1 ? 0x10 : 0, into: &output)
            HPACKWriter.string(Array(value.utf8), isHuffman: numbers.next(2) == 0, into: &output)
        }
        if numbers.next(12) == 0 { HPACKWriter.integer(numbers.next(4097), prefix: 5, first: 0x20, into: &output) }
        switch numbers.next(3) {
        case 0: output.append(0x88 + UInt8(numbers.next(7)))
        case 1: write(8, String(200 + numbers.next(400)), &numbers)
        default: HPACKWriter.integer(62 + numbers.next(4), prefix: 7, first: 0x80, into: &output)
        }
        for _ in 0..<numbers.next(4) {
            switch numbers.next(4) {
            case 0: write(28, String(numbers.next(1000)), &numbers)
            case 1: write(54, "nginx/1.\(numbers.next(30))", &numbers)
            case 2: write(33, String(repeating: "x", count: 1 + numbers.next(600)), &numbers)
            default: HPACKWriter.integer(62 + numbers.next(6), prefix: 7, first: 0x80, into: &output)
            }
        }
        return output
    }

    @Test("However often a block comes again, all blocks say what another decoder finds in them")
    func anyBlocks() {
        var numbers = SeededNumbers()
        var (repeated, referring) = (0, 0)
        for _ in 0..<1500 {
            let (peer, decoder) = (PeerInflater(), StatusDecoder(tableSize: 4096))
            trial: for _ in 0..<12 {
                let block = block(&numbers)
                // Now and then more often than the table has room for.
                let times = numbers.next(3) > 0 ? 1 : 1 + numbers.next(numbers.next(4) == 0 ? 200 : 5)
                for time in 0..<times {
                    let fields = peer.decode(block)
                    let found = decoder.head(block, block.count)
                    let wanted = fields.map(head)
                    #expect(
                        found?.status == wanted?.status && found?.contentLength == wanted?.length,
                        "seed \(numbers.seed): \(block), time \(time)")
                    guard fields != nil else { break trial }
                    if time > 0 { repeated += 1 }
                    if fields?.isEmpty == false, block.contains(0xBE) { referring += 1 }
                }
            }
        }
        #expect(repeated > 1000 && referring > 100)
    }

    @Test("Entries of a block that came many times are there when another block refers to them")
    func entries() {
        let decoder = StatusDecoder(tableSize: 4096)
        // `content-length: 7` and `:status: 201`, both added to the table.
        let adding: [UInt8] = [0x48, 3] + Array("201".utf8) + [0x5C, 1] + Array("7".utf8)
        for _ in 0..<1000 { #expect(decoder.head(adding, adding.count)?.status == 201) }
        for _ in 0..<2 {
            // The status is the older one.
            let head = decoder.head([0xBF, 0xBE], 2)
            #expect(head?.status == 201 && head?.contentLength == 7)
        }
        // 4,096 bytes hold 92 entries of 42 and 47 bytes, and no more: the last is 61 + 92, 127 + 26.
        #expect(decoder.head([0xFF, 26], 2)?.status == 201)
        #expect(decoder.head([0xFF, 27], 2) == nil)
    }

    @Test("What a block asks for in retry-after is kept each time it comes, and only then")
    func retryAfter() {
        let decoder = StatusDecoder(tableSize: 4096)
        let waiting: [UInt8] = [0x48, 3] + Array("429".utf8) + [0x75, 1] + Array("9".utf8)
        let other: [UInt8] = [0x48, 3] + Array("410".utf8)
        for _ in 0..<3 {
            for _ in 0..<2 {
                #expect(decoder.head(waiting, waiting.count)?.status == 429)
                #expect(decoder.retryAfter == "9")
            }
            for _ in 0..<2 {
                #expect(decoder.head(other, other.count)?.status == 410)
                #expect(decoder.retryAfter.isEmpty)
            }
        }
    }
}
