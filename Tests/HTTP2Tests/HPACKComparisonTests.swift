import Testing

@testable import HTTP2

/// Ours against nghttp2's encoder and decoder, on random input; a failure names the seed that repeats it.
///
/// They differ in two points, both ours to choose and both stricter: nghttp2 takes any number of size updates at the
/// beginning of a block, we take two (RFC 7541 section 4.2 knows of no more); and nghttp2 lets the name and the value have
/// 65,536 bytes each as they are coded, we let the field have as many in all, decoded.
@Suite struct HPACKComparisonTests {
    private static let names = [
        ":path", ":authority", ":method", "authorization", "apns-topic", "apns-id", "apns-priority", "cookie", "x", "",
        "content-length", "x-a-rather-long-name-that-nobody-needs",
    ].map { Array($0.utf8) }

    private func text(_ count: Int, _ numbers: inout SeededNumbers) -> [UInt8] {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789-._~ABCDEFGHIJKLMNOPQRSTUVWXYZ/%".utf8)
        return (0..<count).map { _ in letters[numbers.next(letters.count)] }
    }

    private func field(_ numbers: inout SeededNumbers) -> DecodedField {
        if numbers.next(4) == 0 { return HPACKWriter.staticEntries[numbers.next(61)] }
        let name = numbers.next(8) == 0 ? numbers.bytes(numbers.next(20)) : Self.names[numbers.next(Self.names.count)]
        switch numbers.next(12) {
        case 0: return DecodedField(name, [])
        case 1: return DecodedField(name, numbers.bytes(numbers.next(200)))
        case 2: return DecodedField(name, text(numbers.next(1500), &numbers))
        case 3...6:
            // One of a few, so that entries and remembered values are met again.
            return DecodedField(
                name, [UInt8](repeating: 0x41 + UInt8(numbers.next(4)), count: 10 + numbers.next(4) * 40))
        default: return DecodedField(name, text(numbers.next(60), &numbers))
        }
    }

    private func fields(_ numbers: inout SeededNumbers) -> [DecodedField] {
        (0..<numbers.next(14)).map { _ in field(&numbers) }
    }

    @Test(
        "What nghttp2 encodes is decoded to the same fields, with sizes of the table changing",
        arguments: [0, 64, 4096])
    func peerDeflater(_ tableSize: Int) {
        var numbers = SeededNumbers()
        let ours = OurDecoder(tableSize)
        let deflater = PeerDeflater(65_536)
        let peer = PeerInflater(tableSize)
        deflater.setLimit(tableSize)
        for round in 0..<600 {
            if numbers.next(20) == 0 {
                // Sometimes more than one change between two blocks.
                for _ in 0...numbers.next(2) {
                    let size = [0, 32, 100, 1000, 4096, 20_000][numbers.next(6)]
                    ours.decoder.setLimit(size)
                    peer.setLimit(size)
                    deflater.setLimit(size)
                }
            }
            var list = fields(&numbers)
            if numbers.next(100) == 0 { list.append(DecodedField(Self.names[0], text(60_000, &numbers))) }
            let never = Set((0..<3).map { _ in numbers.next(14) })
            let block = deflater.encode(list, neverIndexed: never)
            let decoded = ours.decode(block)
            guard decoded == list, peer.decode(block) == list else {
                Issue.record("seed \(numbers.seed) round \(round): \(list) became \(decoded ?? [])")
                return
            }
            #expect(ours.decoder.tableUsed == peer.tableUsed, "seed \(numbers.seed) round \(round)")
        }
        #expect(ours.isMarkedRight, "seed \(numbers.seed)")
    }

    @Test("Every representation of a field is decoded, in any mixture", arguments: [0, 40, 200, 4096, 30_000])
    func anyRepresentation(_ tableSize: Int) {
        var numbers = SeededNumbers()
        var writer = HPACKWriter(tableSize)
        let ours = OurDecoder(tableSize)
        let peer = PeerInflater(tableSize)
        for round in 0..<400 {
            if numbers.next(15) == 0 {
                let size = [0, 33, 150, 4096, 10_000][numbers.next(5)]
                writer.setLimit(size)
                ours.decoder.setLimit(size)
                peer.setLimit(size)
            }
            let list = fields(&numbers)
            let block = writer.block(list, &numbers)
            let decoded = ours.decode(block)
            guard decoded == list, peer.decode(block) == list else {
                Issue.record("seed \(numbers.seed) round \(round): \(list) became \(decoded ?? [])")
                return
            }
            #expect(ours.decoder.tableUsed == writer.tableUsed, "seed \(numbers.seed) round \(round)")
            #expect(ours.decoder.tableUsed == peer.tableUsed, "seed \(numbers.seed) round \(round)")
        }
        #expect(ours.isMarkedRight, "seed \(numbers.seed)")
    }

    @Test("Remembered Huffman-coded values are never mistaken for others that share name, length or beginning")
    func rememberedValues() {
        var numbers = SeededNumbers()
        let ours = OurDecoder()
        let base = text(1400, &numbers)
        for round in 0..<1500 {
            let name = Self.names[numbers.next(7)]
            var value = Array(base[..<[30, 60, 61, 300, 1000, 1024, 1025, 1400][numbers.next(8)]])
            if numbers.next(3) == 0 { value[numbers.next(value.count)] = 0x61 + UInt8(numbers.next(3)) }
            var block: [UInt8] = [numbers.next(2) == 0 ? 0x00 : 0x40]
            HPACKWriter.string(name, isHuffman: false, into: &block)
            HPACKWriter.string(value, isHuffman: true, into: &block)
            guard ours.decode(block) == [DecodedField(name, value)] else {
                Issue.record("seed \(numbers.seed) round \(round): \(value.count) bytes decoded to something else")
                return
            }
        }
        #expect(ours.isMarkedRight, "seed \(numbers.seed)")
    }

    @Test("A remembered value is told from one that differs in a single byte, wherever that is")
    func rememberedNeighbours() {
        // 'a' and 'c' have five bits each: 64 of them are 40 bytes.
        let remembered = [UInt8](repeating: 0x61, count: 64)
        let ours = OurDecoder()
        for place in 0..<64 {
            var neighbour = remembered
            neighbour[place] = 0x63
            for value in [remembered, remembered, neighbour, neighbour] {
                var block: [UInt8] = [0x04]
                HPACKWriter.string(value, isHuffman: true, into: &block)
                #expect(block.count == 42)
                #expect(ours.decode(block)?.first?.value == value, "byte \(place)")
            }
        }
    }

    // MARK: Hostile input

    /// Whether a block begins with more size updates than the two we take.
    private func hasManyUpdates(_ block: [UInt8]) -> Bool {
        var place = 0
        for _ in 0..<3 {
            guard place < block.count, block[place] & 0xE0 == 0x20 else { return false }
            if block[place] == 0x3F {
                place += 1
                while place < block.count, block[place] >= 0x80 { place += 1 }
            }
            place += 1
        }
        return true
    }

    private func mutate(_ block: inout [UInt8], _ numbers: inout SeededNumbers) {
        for _ in 0...numbers.next(3) {
            let place = numbers.next(block.count + 1)
            switch numbers.next(6) {
            case 0 where place < block.count: block[place] ^= 1 << UInt8(numbers.next(8))
            case 1 where place < block.count: block[place] = numbers.byte()
            case 2 where place < block.count: block.remove(at: place)
            case 3: block.insert(numbers.byte(), at: place)
            case 4: block.removeSubrange(place...)
            default:
                let edges: [UInt8] = [0x00, 0x0F, 0x1F, 0x20, 0x3F, 0x40, 0x7E, 0x7F, 0x80, 0xBE, 0xFF]
                block.insert(edges[numbers.next(edges.count)], at: place)
            }
        }
    }

    /// Feeds both the same blocks until one of them fails; false when they do not agree.
    private func agree(
        _ ours: OurDecoder, _ peer: PeerInflater, _ block: [UInt8], _ hint: @autoclosure () -> String
    ) -> (isAgreed: Bool, isValid: Bool) {
        let decoded = ours.decode(block)
        let expected = peer.decode(block)
        if decoded == nil, expected != nil, hasManyUpdates(block) { return (true, false) }
        let isSame = decoded == expected && (decoded == nil || ours.decoder.tableUsed == peer.tableUsed)
        if !isSame {
            Issue.record(
                "\(hint()): \(block) became \(String(describing: decoded)), not \(String(describing: expected))")
        }
        return (isSame, decoded != nil)
    }

    @Test("Mutated blocks are valid or not as nghttp2 says, with the same fields and the same table", arguments: 0..<4)
    func mutations(_ part: Int) {
        var numbers = SeededNumbers()
        var valid = 0
        let trials = 2000
        for trial in 0..<trials {
            let tableSize = [4096, 4096, 200, 70][numbers.next(4)]
            var writer = HPACKWriter(tableSize)
            let ours = OurDecoder(tableSize)
            let peer = PeerInflater(tableSize)
            for round in 0..<(1 + numbers.next(3)) {
                var block = writer.block((0..<numbers.next(6)).map { _ in field(&numbers) }, &numbers)
                // The first block often as it is, so that there is a table to refer to.
                if round > 0 || numbers.next(3) == 0 { mutate(&block, &numbers) }
                let outcome = agree(ours, peer, block, "seed \(numbers.seed) trial \(trial) round \(round)")
                guard outcome.isAgreed else { return }
                guard outcome.isValid else { break }
                valid += 1
            }
            #expect(ours.isMarkedRight, "seed \(numbers.seed) trial \(trial)")
        }
        // Not all of one kind, or nothing was compared.
        #expect(valid > trials / 4, "seed \(numbers.seed)")
    }

    @Test("Random bytes are valid or not as nghttp2 says, with the same fields", arguments: 0..<2)
    func randomBytes(_ part: Int) {
        var numbers = SeededNumbers()
        for trial in 0..<10_000 {
            let ours = OurDecoder()
            let peer = PeerInflater()
            var block = numbers.bytes(numbers.next(24))
            // Small strings and known indices more often than chance has them.
            for place in block.indices where numbers.next(2) == 0 { block[place] &= 0xC7 }
            guard agree(ours, peer, block, "seed \(numbers.seed) trial \(trial)").isAgreed else { return }
        }
    }

    @Test("Random Huffman strings are valid or not as nghttp2 says, with the same bytes")
    func randomHuffman() {
        var numbers = SeededNumbers()
        for trial in 0..<8000 {
            var symbols = (0..<numbers.next(12)).map { _ in numbers.next(numbers.next(30) == 0 ? 257 : 256) }
            if numbers.next(2) == 0 { symbols = text(numbers.next(40), &numbers).map(Int.init) }
            var coded = HPACKWriter.huffman(symbols)
            if !coded.isEmpty, numbers.next(2) == 0 { coded[coded.count - 1] ^= 1 << UInt8(numbers.next(8)) }
            if numbers.next(8) == 0 { coded.append(0xFF) }
            var block: [UInt8] = [0x04]
            HPACKWriter.integer(coded.count, prefix: 7, first: 0x80, into: &block)
            block += coded
            let outcome = agree(OurDecoder(), PeerInflater(), block, "seed \(numbers.seed) trial \(trial)")
            guard outcome.isAgreed else { return }
        }
    }

    @Test("Where nghttp2 is more lenient: a third size update, and a field of more than 65,536 bytes in all")
    func differences() {
        #expect(PeerInflater().decode([0x20, 0x20, 0x20])?.isEmpty == true)
        #expect(OurDecoder().decode([0x20, 0x20, 0x20]) == nil)
        var block: [UInt8] = [0x05]
        HPACKWriter.string([UInt8](repeating: 0x61, count: 65_536), isHuffman: false, into: &block)
        #expect(PeerInflater().decode(block)?.first?.value.count == 65_536)
        #expect(OurDecoder().decode(block) == nil)
    }
}
