import Testing

@testable import HTTP2

@Suite struct HPACKDecoderTests {
    // MARK: The RFC's examples

    struct Example: CustomTestStringConvertible {
        let section: String
        let hex: String
        let fields: [DecodedField]
        let tableUsed: Int
        var testDescription: String { section }

        init(_ section: String, _ hex: String, _ fields: [(String, String)], _ tableUsed: Int) {
            self.section = section
            self.hex = hex
            self.fields = fields.map { DecodedField($0.0, $0.1) }
            self.tableUsed = tableUsed
        }

        var block: [UInt8] {
            let digits = hex.filter { $0 != " " }.map { UInt8($0.hexDigitValue!) }
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }
    }

    static let requests: [[(String, String)]] = [
        [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")],
        [
            (":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com"),
            ("cache-control", "no-cache"),
        ],
        [
            (":method", "GET"), (":scheme", "https"), (":path", "/index.html"), (":authority", "www.example.com"),
            ("custom-key", "custom-value"),
        ],
    ]

    static let responses: [[(String, String)]] = [
        [
            (":status", "302"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ],
        [
            (":status", "307"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ],
        [
            (":status", "200"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:22 GMT"),
            ("location", "https://www.example.com"), ("content-encoding", "gzip"),
            ("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"),
        ],
    ]

    /// Each is one connection: its table size, and its blocks one after the other.
    static let examples: [(tableSize: Int, blocks: [Example])] = [
        (
            4096,
            [
                Example(
                    "C.2.1", "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
                    [("custom-key", "custom-header")], 55)
            ]
        ),
        (4096, [Example("C.2.2", "040c 2f73 616d 706c 652f 7061 7468", [(":path", "/sample/path")], 0)]),
        (4096, [Example("C.2.3", "1008 7061 7373 776f 7264 0673 6563 7265 74", [("password", "secret")], 0)]),
        (4096, [Example("C.2.4", "82", [(":method", "GET")], 0)]),
        (
            4096,
            [
                Example("C.3.1", "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", requests[0], 57),
                Example("C.3.2", "8286 84be 5808 6e6f 2d63 6163 6865", requests[1], 110),
                Example(
                    "C.3.3", "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", requests[2],
                    164),
            ]
        ),
        (
            4096,
            [
                Example("C.4.1", "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", requests[0], 57),
                Example("C.4.2", "8286 84be 5886 a8eb 1064 9cbf", requests[1], 110),
                Example("C.4.3", "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", requests[2], 164),
            ]
        ),
        (
            256,
            [
                Example(
                    "C.5.1",
                    "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133"
                        + "2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861"
                        + "6d70 6c65 2e63 6f6d",
                    responses[0], 222),
                Example("C.5.2", "4803 3330 37c1 c0bf", responses[1], 222),
                Example(
                    "C.5.3",
                    "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d"
                        + "54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f"
                        + "5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572"
                        + "7369 6f6e 3d31",
                    responses[2], 215),
            ]
        ),
        (
            256,
            [
                Example(
                    "C.6.1",
                    "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6"
                        + "2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
                    responses[0], 222),
                Example("C.6.2", "4883 640e ffc1 c0bf", responses[1], 222),
                Example(
                    "C.6.3",
                    "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab"
                        + "77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5"
                        + "291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                    responses[2], 215),
            ]
        ),
    ]

    @Test("The examples of RFC 7541 appendix C decode to their fields and leave tables of their sizes")
    func appendixC() {
        for (tableSize, blocks) in Self.examples {
            let ours = OurDecoder(tableSize)
            for example in blocks {
                #expect(ours.decode(example.block) == example.fields, "section \(example.section)")
                #expect(ours.decoder.tableUsed == example.tableUsed, "section \(example.section)")
            }
            #expect(ours.isMarkedRight)
        }
    }

    @Test("Every static entry is the one nghttp2 has")
    func staticTable() {
        let ours = OurDecoder()
        let peer = PeerInflater()
        let block = (1...61).map { UInt8(0x80 | $0) }
        let fields = ours.decode(block)
        #expect(fields?.count == 61)
        #expect(fields == peer.decode(block))
        #expect(ours.isMarkedRight)
    }

    @Test("Every byte's Huffman code is the one nghttp2 writes")
    func huffmanCodes() {
        // Nineteen of one byte: nghttp2 chooses Huffman for the short codes, and reads what the writer made of the others.
        for byte in UInt8.min...UInt8.max {
            let field = DecodedField([0x78], [UInt8](repeating: byte, count: 19))
            var block: [UInt8] = [0x00]
            HPACKWriter.string(field.name, isHuffman: true, into: &block)
            HPACKWriter.string(field.value, isHuffman: true, into: &block)
            #expect(PeerInflater().decode(block) == [field], "byte \(byte)")
            #expect(OurDecoder().decode(block) == [field], "byte \(byte)")
            #expect(OurDecoder().decode(PeerDeflater().encode([field])) == [field], "byte \(byte)")
        }
    }

    // MARK: Tables

    @Test("A literal whose name belongs to an entry that its own insertion evicts keeps that name")
    func evictedName() {
        // 100 bytes hold one such entry; the second insertion names the first and evicts it.
        for tableSize in [75, 100] {
            let ours = OurDecoder(tableSize)
            let name = Array("a-longer-name".utf8)
            for round in 0..<50 {
                let value = [UInt8](repeating: 0x61 + UInt8(round % 26), count: 5 + round % 20)
                // Inserted with its name spelt out, then with the name of index 62.
                var block: [UInt8] = round == 0 ? [0x40] : [0x7E]
                if round == 0 { HPACKWriter.string(name, isHuffman: false, into: &block) }
                HPACKWriter.string(value, isHuffman: false, into: &block)
                #expect(ours.decode(block + [0xBE]) == [DecodedField(name, value), DecodedField(name, value)])
                #expect(ours.decoder.tableUsed == 32 + name.count + value.count)
            }
            #expect(ours.isMarkedRight)
        }
    }

    @Test("A field larger than the table is decoded, named by an entry too, and empties the table")
    func largerThanTable() {
        let ours = OurDecoder(100)
        #expect(ours.decode([0x40, 2, 0x78, 0x79, 1, 0x7A]) == [DecodedField("xy", "z")])
        #expect(ours.decoder.tableUsed == 35)
        var block: [UInt8] = [0x7E]
        let value = [UInt8](repeating: 0x76, count: 90)
        HPACKWriter.string(value, isHuffman: false, into: &block)
        #expect(ours.decode(block) == [DecodedField(Array("xy".utf8), value)])
        #expect(ours.decoder.tableUsed == 0)
        #expect(ours.decode([0xBE]) == nil)
    }

    @Test("A table of no bytes takes no entry, and one of 32 takes one empty field")
    func smallestTables() {
        let none = OurDecoder(0)
        #expect(none.decode([0x40, 0, 0]) == [DecodedField("", "")])
        #expect(none.decoder.tableUsed == 0)
        let one = OurDecoder(32)
        #expect(one.decode([0x40, 0, 0, 0xBE]) == [DecodedField("", ""), DecodedField("", "")])
        #expect(one.decoder.tableUsed == 32)
        #expect(one.decode([0xBF]) == nil)
    }

    @Test("A table much larger than 4,096 bytes is used to its end")
    func largeTable() {
        let ours = OurDecoder(100_000)
        var numbers = SeededNumbers()
        var writer = HPACKWriter(100_000)
        for round in 0..<400 {
            let field = DecodedField(numbers.bytes(10), numbers.bytes(numbers.next(2000)))
            let block = writer.block([field, field], &numbers)
            #expect(ours.decode(block) == [field, field], "seed \(numbers.seed) round \(round)")
            #expect(ours.decoder.tableUsed == writer.tableUsed, "seed \(numbers.seed) round \(round)")
        }
        #expect(ours.isMarkedRight, "seed \(numbers.seed)")
    }

    // MARK: Our own encoder

    @Test("What RequestEncoder writes decodes to the same fields as nghttp2 finds", arguments: [0, 100, 400, 4096])
    func requestEncoder(_ tableSize: Int) {
        var numbers = SeededNumbers()
        let set = [
            ("apns-topic", "com.example.app"), ("apns-priority", "10"), ("apns-push-type", "alert"),
            ("apns-expiration", "0"), ("content-type", "application/json"), ("user-agent", "pushload"),
        ]
        let encoder = RequestEncoder(authority: "a:1", isSecure: true, headerSets: [set], tableLimit: 4096)
        let ours = OurDecoder()
        let peer = PeerInflater()
        if tableSize != 4096 {
            encoder.setPeerTableSize(tableSize)
            ours.decoder.setLimit(tableSize)
            peer.setLimit(tableSize)
        }
        var token = Array("bearer first".utf8)
        var output = [UInt8](repeating: 0, count: 8192)
        for round in 0..<500 {
            if numbers.next(10) == 0 { token = [UInt8](repeating: 0x74, count: 1 + numbers.next(300)) }
            let path = [UInt8](repeating: 0x61, count: numbers.next(300))
            let count = token.withUnsafeBufferPointer {
                encoder.write(
                    set: 0, path: path, pathLength: path.count, authorizationValue: $0,
                    identifier: [UInt8](repeating: 0x69, count: 36), into: &output)
            }
            let block = Array(output[..<count])
            let fields = ours.decode(block)
            #expect(fields?.count == 12, "seed \(numbers.seed) round \(round)")
            #expect(fields == peer.decode(block), "seed \(numbers.seed) round \(round)")
            #expect(ours.decoder.tableUsed == peer.tableUsed, "seed \(numbers.seed) round \(round)")
        }
        #expect(ours.isMarkedRight, "seed \(numbers.seed)")
    }
}
