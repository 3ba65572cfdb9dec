import Testing

@testable import HTTP2

/// Every rule a block can break, each with its own case; what is just allowed beside it.
@Suite struct HPACKViolationTests {
    private func string(_ bytes: [UInt8], isHuffman: Bool = false) -> [UInt8] {
        var output: [UInt8] = []
        HPACKWriter.string(bytes, isHuffman: isHuffman, into: &output)
        return output
    }

    private func update(_ size: Int) -> [UInt8] {
        var output: [UInt8] = []
        HPACKWriter.integer(size, prefix: 5, first: 0x20, into: &output)
        return output
    }

    @Test("A violation is final: the blocks after it fail too, the empty one included")
    func final() {
        let ours = OurDecoder()
        #expect(ours.decode([0x82]) == [DecodedField(":method", "GET")])
        #expect(ours.decode([0x82, 0x80]) == nil)
        #expect(ours.decode([0x82]) == nil)
        #expect(ours.decode([]) == nil)
        #expect(ours.decode([0x20]) == nil)
        #expect(ours.decode([]) == nil)
    }

    @Test("Index 0 fails, as a field; as a name it means that the name is spelt out")
    func indexZero() {
        #expect(OurDecoder().decode([0x80]) == nil)
        #expect(OurDecoder().decode([0x00, 1, 0x61, 0]) == [DecodedField("a", "")])
    }

    @Test("An index beyond both tables fails, as a field and as a name")
    func indexBeyond() {
        #expect(OurDecoder().decode([0xBD])?.count == 1)
        #expect(OurDecoder().decode([0xBE]) == nil)
        #expect(OurDecoder().decode([0xFF, 0x00]) == nil)
        #expect(OurDecoder().decode([0xFF, 0x80, 0x01]) == nil)
        #expect(OurDecoder().decode([0x7D, 0])?.count == 1)
        #expect(OurDecoder().decode([0x7E, 0]) == nil)
        #expect(OurDecoder().decode([0x0F, 0x2E, 0])?.count == 1)
        #expect(OurDecoder().decode([0x0F, 0x2F, 0]) == nil)
        #expect(OurDecoder().decode([0x1F, 0x2F, 0]) == nil)
        #expect(OurDecoder().decode([0x40, 0, 0, 0xBE])?.count == 2)
        #expect(OurDecoder().decode([0x40, 0, 0, 0xBF]) == nil)
    }

    @Test("The index 127 and those beyond are found when the table has as many entries")
    func longIndex() {
        let ours = OurDecoder()
        var block: [UInt8] = []
        for value in UInt8(0)..<80 { block += [0x40, 1, 0x61, 1, value] }
        #expect(ours.decode(block)?.count == 80)
        // Index 126 is age 64, so value 79 - 64.
        #expect(ours.decode([0xFE]) == [DecodedField([0x61], [15])])
        #expect(ours.decode([0xFF, 0x00]) == [DecodedField([0x61], [14])])
        #expect(ours.decode([0xFF, 0x0E]) == [DecodedField([0x61], [0])])
        #expect(ours.decode([0xFF, 0x0F]) == nil)
    }

    @Test("A size update behind the first field fails")
    func lateUpdate() {
        #expect(OurDecoder().decode([0x3F, 0x00, 0x82])?.count == 1)
        #expect(OurDecoder().decode([0x82, 0x20]) == nil)
        #expect(OurDecoder().decode([0x20, 0x82, 0x20]) == nil)
    }

    @Test("Two size updates begin a block, three fail")
    func manyUpdates() {
        #expect(OurDecoder().decode([0x20, 0x3F, 0x00, 0x82])?.count == 1)
        #expect(OurDecoder().decode([0x20, 0x20])?.isEmpty == true)
        #expect(OurDecoder().decode([0x20, 0x20, 0x20]) == nil)
    }

    @Test("A size update above the limit fails, the limit itself does not; 1,337 is spelt as in RFC 7541 section C.1.2")
    func updateAboveLimit() {
        #expect(update(1337) == [0x3F, 0x9A, 0x0A])
        for limit in [0, 30, 31, 1337, 4096, 70_000] {
            #expect(OurDecoder(limit).decode(update(limit))?.isEmpty == true, "limit \(limit)")
            #expect(OurDecoder(limit).decode(update(limit + 1)) == nil, "limit \(limit)")
        }
        let ours = OurDecoder()
        ours.decoder.setLimit(5000)
        #expect(ours.decode(update(5000))?.isEmpty == true)
        #expect(ours.decode(update(5001)) == nil)
    }

    @Test("A size update evicts what does not fit, and what was evicted is no longer there")
    func updateEvicts() {
        let ours = OurDecoder()
        #expect(ours.decode([0x40, 1, 0x61, 0, 0x40, 1, 0x62, 0])?.count == 2)
        #expect(ours.decoder.tableUsed == 66)
        #expect(ours.decode(update(65) + [0xBE]) == [DecodedField("b", "")])
        #expect(ours.decoder.tableUsed == 33)
        #expect(ours.decode(update(4096) + [0xBF]) == nil)
    }

    @Test("After a lower limit a block fails unless it begins with a size update, even an empty block")
    func neededUpdate() {
        let blocks: [[UInt8]] = [[0x82], [], [0x04, 0], [0x40, 0, 0], update(101)]
        for block in blocks {
            let ours = OurDecoder()
            ours.decoder.setLimit(100)
            #expect(ours.decode(block) == nil, "block \(block)")
        }
        let ours = OurDecoder()
        ours.decoder.setLimit(100)
        #expect(ours.decode(update(100) + [0x82])?.count == 1)
        #expect(ours.decode([0x82])?.count == 1)
        // The same limit again, and a higher one, need none.
        ours.decoder.setLimit(100)
        #expect(ours.decode([0x82])?.count == 1)
        ours.decoder.setLimit(200)
        #expect(ours.decode([0x82])?.count == 1)
    }

    @Test("Of several limits between two blocks the smallest has to be answered first")
    func smallestLimit() {
        for (updates, isValid) in [
            ([4096], false), ([101, 100], false), ([100], true), ([100, 4096], true), ([0, 4096], true),
            ([100, 4097], false),
        ] {
            let ours = OurDecoder()
            ours.decoder.setLimit(100)
            ours.decoder.setLimit(4096)
            let block = updates.map(update).reduce([], +) + [0x82]
            #expect((ours.decode(block) != nil) == isValid, "updates \(updates)")
        }
    }

    @Test("A lower limit evicts at once")
    func limitEvicts() {
        let ours = OurDecoder()
        #expect(ours.decode([0x40, 1, 0x61, 0, 0x40, 1, 0x62, 0])?.count == 2)
        ours.decoder.setLimit(40)
        #expect(ours.decoder.tableUsed == 33)
    }

    @Test("Integers with needless bytes count, with more than five behind the prefix they fail, and so do huge ones")
    func integers() {
        // 127 + 0 in one to five bytes.
        let ours = OurDecoder()
        let fill = (0..<80).flatMap { _ in [UInt8]([0x40, 0, 0]) }
        #expect(ours.decode(fill)?.count == 80)
        for zeros in 0...4 {
            #expect(ours.decode([0xFF] + [UInt8](repeating: 0x80, count: zeros) + [0x00])?.count == 1)
        }
        #expect(ours.decode([0xFF] + [UInt8](repeating: 0x80, count: 5) + [0x00]) == nil)
        // 2^32 - 1, 2^32, 2^63 and more, wherever an integer may stand.
        let huge: [[UInt8]] = [
            [0x80, 0xFF, 0xFF, 0xFF, 0x0F], [0x80, 0x80, 0x80, 0x80, 0x10], [0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
            [UInt8](repeating: 0xFF, count: 8) + [0x7F], [UInt8](repeating: 0x80, count: 9) + [0x01],
            [UInt8](repeating: 0xFF, count: 40),
        ]
        for rest in huge {
            for start: [UInt8] in [[0xFF], [0x7F], [0x0F], [0x1F], [0x3F], [0x00, 0x7F], [0x04, 0x7F], [0x04, 0xFF]] {
                #expect(OurDecoder().decode(start + rest) == nil, "\(start) \(rest)")
            }
        }
    }

    @Test("An integer over 2^31 fails where a table size up to it is allowed")
    func largestInteger() {
        let ours = OurDecoder()
        ours.decoder.setLimit(1 << 40)
        #expect(ours.decode(update(1 << 31))?.isEmpty == true)
        #expect(ours.decode([0x40, 1, 0x61, 1, 0x62, 0xBE])?.count == 2)
        #expect(ours.decode(update(1 << 31 + 1)) == nil)
    }

    @Test("A block that is cut off anywhere inside a field fails")
    func truncated() {
        let name = Array("a-name-of-some-length".utf8)
        let value = [UInt8](repeating: 0x76, count: 300)
        let fields: [[UInt8]] = [
            [0x44] + string(Array("/path".utf8)), [0x04] + string(Array("/path".utf8)), [0x04] + string(value),
            [0x00] + string(name) + string(value), [0x00] + string(name, isHuffman: true) + string(value),
            [0x40] + string(name) + string(value, isHuffman: true), [0x0F, 0x08] + string(value, isHuffman: true),
            [0x1F, 0x08] + string([]), [0x00] + string([]) + string([]),
        ]
        for field in fields {
            #expect(OurDecoder().decode(field)?.count == 1)
            for count in 1..<field.count {
                #expect(OurDecoder().decode(Array(field[..<count])) == nil, "\(count) of \(field)")
                #expect(OurDecoder().decode([0x82] + Array(field[..<count])) == nil, "\(count) of \(field)")
            }
        }
        for block: [UInt8] in [[0xFF], [0xFF, 0x80], [0x3F], [0x3F, 0x80]] {
            #expect(OurDecoder().decode(block) == nil, "\(block)")
        }
    }

    @Test("Names and values may be empty, Huffman-coded too")
    func empty() {
        for block: [UInt8] in [[0x00, 0, 0], [0x10, 0x80, 0x80], [0x40, 0, 0x80], [0x40, 0x80, 0]] {
            #expect(OurDecoder().decode(block) == [DecodedField("", "")], "\(block)")
        }
        #expect(OurDecoder().decode([])?.isEmpty == true)
    }

    // MARK: Huffman coding

    /// As a value, and as a name.
    private func blocks(_ coded: [UInt8]) -> [[UInt8]] {
        precondition(coded.count < 127)
        let text = [0x80 | UInt8(coded.count)] + coded
        return [[0x04] + text, [0x44] + text, [0x00] + text + [0]]
    }

    @Test("The end-of-string code inside a string fails")
    func endOfString() {
        for symbols in [[256], [0x61, 256], [256, 0x61], [0x61, 256, 0x61]] {
            for block in blocks(HPACKWriter.huffman(symbols)) {
                #expect(OurDecoder().decode(block) == nil, "\(symbols)")
            }
        }
    }

    @Test("Padding of eight bits or more fails")
    func longPadding() {
        // '&' has eight bits, '0' five.
        for symbols in [[], [0x26], [0x30], [0x26, 0x30]] {
            let coded = HPACKWriter.huffman(symbols)
            for block in blocks(coded) { #expect(OurDecoder().decode(block)?.count == 1, "\(symbols)") }
            for longer in [coded + [0xFF], coded + [0xFF, 0xFF], coded + [0xFF, 0xFF, 0xFF]] {
                for block in blocks(longer) { #expect(OurDecoder().decode(block) == nil, "\(longer)") }
            }
        }
    }

    @Test("Padding that is not all ones fails")
    func wrongPadding() {
        // '0' is five zeros; three bits are left.
        for padding in UInt8(0)...7 {
            for block in blocks([padding]) {
                #expect((OurDecoder().decode(block) != nil) == (padding == 7), "padding \(padding)")
            }
        }
        // '&' has eight bits; a byte of zeros behind it is a '0' and the beginning of a code that is cut off.
        for block in blocks(HPACKWriter.huffman([0x26]) + [0x00]) { #expect(OurDecoder().decode(block) == nil) }
    }

    // MARK: Sizes

    @Test("A field of 65,536 bytes is decoded, a larger one fails, Huffman-coded or not")
    func largestField() {
        let most = 65_536
        for isHuffman in [false, true] {
            for length in [most - 5, most - 4] {
                let value = [UInt8](repeating: 0x61, count: length)
                for start: [UInt8] in [[0x05], [0x00] + string(Array(":path".utf8), isHuffman: isHuffman)] {
                    let decoded = OurDecoder().decode(start + string(value, isHuffman: isHuffman))
                    #expect((decoded?.first?.value == value) == (length == most - 5), "\(length) \(isHuffman)")
                }
            }
            for count in [most, most + 1, most + 2, most * 3 / 2] {
                let text = string([UInt8](repeating: 0x61, count: count), isHuffman: isHuffman)
                #expect((OurDecoder().decode([0x00] + text + [0]) != nil) == (count == most), "\(count) \(isHuffman)")
                let whole = OurDecoder().decode([0x00, 0] + text)
                #expect((whole?.first?.value.count == count) == (count == most), "\(count) \(isHuffman)")
            }
        }
        // More than 65,536 bytes as they are coded, though few once decoded: '\n' has thirty bits.
        let lines = [UInt8](repeating: 0x0A, count: 20_000)
        #expect(OurDecoder().decode([0x04] + string(lines, isHuffman: true)) == nil)
    }
}
