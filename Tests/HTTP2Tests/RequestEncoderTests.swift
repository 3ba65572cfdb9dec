import CNghttp2
import Testing

@testable import HTTP2

@Suite struct RequestEncoderTests {
    /// nghttp2's decoder: an implementation that is not ours.
    private final class Inflater {
        let inflater: OpaquePointer
        init(_ size: Int) {
            var created: OpaquePointer?
            nghttp2_hd_inflate_new(&created)
            inflater = created!
            nghttp2_hd_inflate_change_table_size(inflater, size)
        }
        deinit { nghttp2_hd_inflate_del(inflater) }

        func decode(_ block: ArraySlice<UInt8>) -> [String]? {
            var fields: [String] = []
            let bytes = Array(block)
            var offset = 0
            while true {
                var field = nghttp2_nv()
                var flags: Int32 = 0
                let used = bytes.withUnsafeBufferPointer {
                    nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress! + offset, bytes.count - offset, 1)
                }
                guard used >= 0 else { return nil }
                offset += used
                if UInt32(bitPattern: flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 {
                    let name = String(
                        decoding: UnsafeBufferPointer(start: field.name, count: field.namelen), as: UTF8.self)
                    let value = String(
                        decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen), as: UTF8.self)
                    fields.append("\(name)=\(value)")
                }
                if UInt32(bitPattern: flags) & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 {
                    nghttp2_hd_inflate_end_headers(inflater)
                    return fields
                }
            }
        }
    }

    @Test(
        "nghttp2 decodes every block to the same fields, whatever the table size and however tokens change",
        arguments: [0, 100, 400, 1000, 4096], [false, true])
    func independent(_ peerTable: Int, _ usesHuffman: Bool) {
        var numbers = SeededNumbers()
        let seed = numbers.seed
        func random(_ bound: Int) -> Int { numbers.next(bound) }
        func text(_ letters: String, _ count: Int) -> String {
            let letters = Array(letters)
            return String((0..<count).map { _ in letters[random(letters.count)] })
        }
        let sets = [
            [("apns-topic", "com.example.app"), ("apns-priority", "10")], [("apns-topic", "com.example.app.voip")],
        ]
        let encoder = RequestEncoder(
            authority: "a:1", isSecure: true, headerSets: sets, tableLimit: 4096, usesHuffman: usesHuffman)
        let inflater = Inflater(4096)
        encoder.setPeerTableSize(peerTable)
        var token = "bearer first"
        var version: UInt64 = 1
        var output = [UInt8](repeating: 0, count: 8192)
        for round in 0..<2000 {
            if random(10) == 0 {
                token = "bearer " + text("abcXYZ019.-_~^", 1 + random(300))
                version += 1
            }
            if round == 1000 { encoder.setPeerTableSize(min(4096, peerTable * 2)) }
            let set = random(2)
            let letters = random(4) > 0 ? "0123456789abcdef" : "0aF/\\ {}\u{7}"
            let path = "/3/device/" + text(letters, random(400))
            let identifier = random(3) == 0 ? text("0123456789abcdef-", 36) : nil
            let pathBytes = Array(path.utf8)
            let tokenBytes = Array(token.utf8)
            let hasToken = random(20) != 0
            let idBytes = Array((identifier ?? "").utf8)
            let count = tokenBytes.withUnsafeBufferPointer { token in
                idBytes.withUnsafeBufferPointer { identifierBytes in
                    encoder.write(
                        set: set, path: pathBytes, pathLength: pathBytes.count,
                        authorizationValue: hasToken ? token : nil,
                        authorizationVersion: random(3) == 0 ? 0 : version,
                        identifier: identifier == nil ? nil : identifierBytes.baseAddress, into: &output)
                }
            }
            var expected = [":method=POST", ":scheme=https", ":authority=a:1", ":path=\(path)"]
            if hasToken { expected.append("authorization=\(token)") }
            expected += sets[set].map { "\($0.0)=\($0.1)" }
            if let identifier { expected.append("apns-id=\(identifier)") }
            #expect(inflater.decode(output[..<count]) == expected, "seed \(seed) round \(round)")
        }
    }

    @Test("In the steady state a request's headers are little more than its path")
    func small() {
        let encoder = RequestEncoder(
            authority: "127.0.0.1:2197", isSecure: true, headerSets: [[("apns-topic", "com.example.app")]],
            tableLimit: 4096)
        var output = [UInt8](repeating: 0, count: 4096)
        let path = [UInt8](repeating: 0x61, count: 74)
        let token = [UInt8](repeating: 0x62, count: 230)
        var count = 0
        for _ in 0..<3 {
            count = token.withUnsafeBufferPointer {
                encoder.write(
                    set: 0, path: path, pathLength: 74, authorizationValue: $0, identifier: nil, into: &output)
            }
        }
        #expect(count == 2 + 1 + 2 + 74 + 1 + 1)
    }

    @Test("A table that shrank and grew again between two blocks is announced at its smallest and as it is")
    func shrunkAndGrown() {
        let encoder = RequestEncoder(
            authority: "a:1", isSecure: true, headerSets: [[("apns-topic", "t")]], tableLimit: 4096)
        let inflater = Inflater(4096)
        var output = [UInt8](repeating: 0, count: 4096)
        for sizes in [[], [0, 4096], [100, 4096, 200, 300], [0, 100], [4096], [8192], []] {
            for size in sizes { encoder.setPeerTableSize(size) }
            // As nghttp2 does it when its SETTINGS are acknowledged.
            if let smallest = sizes.min(), let last = sizes.last {
                if smallest < last { nghttp2_hd_inflate_change_table_size(inflater.inflater, smallest) }
                nghttp2_hd_inflate_change_table_size(inflater.inflater, last)
            }
            for _ in 0..<3 {
                let count = encoder.write(
                    set: 0, path: [0x2F], pathLength: 1, authorizationValue: nil, identifier: nil, into: &output)
                #expect(
                    inflater.decode(output[..<count])
                        == [":method=POST", ":scheme=https", ":authority=a:1", ":path=/", "apns-topic=t"], "\(sizes)")
            }
        }
    }

    @Test("In the steady state a coded path is a third shorter than the path")
    func smallCoded() {
        let encoder = RequestEncoder(
            authority: "127.0.0.1:2197", isSecure: true, headerSets: [[("apns-topic", "com.example.app")]],
            tableLimit: 4096, usesHuffman: true)
        var output = [UInt8](repeating: 0, count: 4096)
        let path = Array("/3/device/".utf8) + Array(String(repeating: "0123456789abcdef", count: 4).utf8)
        let identifier = Array("01234567-89ab-cdef-0123-456789abcdef".utf8)
        var count = 0
        for _ in 0..<3 {
            count = encoder.write(
                set: 0, path: path, pathLength: 74, authorizationValue: nil, identifier: identifier, into: &output)
        }
        // RFC 7541 appendix B: the path's prefix has 58 bits, sixteen digits 90, the identifier's name 37 and its value 204.
        let pathBytes = (58 + 4 * 90 + 7) / 8
        let identifierBytes = 1 + 1 + (37 + 7) / 8 + 1 + (204 + 7) / 8
        #expect(count == 2 + 1 + 2 + pathBytes + 1 + identifierBytes)
    }

    @Test("Statuses are found in blocks of every shape nghttp2 makes, with its table changing")
    func statuses() {
        var created: OpaquePointer?
        nghttp2_hd_deflate_new(&created, 4096)
        let deflater = created!
        defer { nghttp2_hd_deflate_del(deflater) }
        let decoder = StatusDecoder(tableSize: 4096)
        for round in 0..<500 {
            let status = [200, 400, 403, 410, 413, 429, 500, 503][round % 8]
            var flags = UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)
            if round % 3 == 0 { flags = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) }
            var statusName = Array(":status".utf8)
            var otherName = Array("apns-id".utf8)
            var statusValue = Array(String(status).utf8)
            var otherValue = Array("id\(round)".utf8)
            var output = [UInt8](repeating: 0, count: 1024)
            let count = statusName.withUnsafeMutableBufferPointer { name0 in
                otherName.withUnsafeMutableBufferPointer { name1 in
                    statusValue.withUnsafeMutableBufferPointer { value0 in
                        otherValue.withUnsafeMutableBufferPointer { value1 in
                            let fields = [
                                nghttp2_nv(
                                    name: name0.baseAddress, value: value0.baseAddress, namelen: 7, valuelen: 3,
                                    flags: 0),
                                nghttp2_nv(
                                    name: name1.baseAddress, value: value1.baseAddress, namelen: 7,
                                    valuelen: value1.count, flags: flags),
                            ]
                            return nghttp2_hd_deflate_hd(deflater, &output, 1024, fields, 2)
                        }
                    }
                }
            }
            #expect(decoder.head(output, count)?.status == UInt16(status), "round \(round)")
        }
        #expect(decoder.head([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], 6) == nil)
        #expect(decoder.head([0xC5], 1) == nil)
        // Two of them overflowed once.
        let twice: [UInt8] = [0x08, 3, 0x39, 0x39, 0x39, 0x08, 3, 0x39, 0x39, 0x39]
        #expect(StatusDecoder(tableSize: 4096).head(twice, twice.count)?.status == StatusDecoder.malformed)
    }
}
