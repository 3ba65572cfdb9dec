import CNghttp2

@testable import HTTP2

/// A field, by value.
struct DecodedField: Hashable, CustomStringConvertible {
    var name: [UInt8]
    var value: [UInt8]

    init(_ name: [UInt8], _ value: [UInt8]) {
        self.name = name
        self.value = value
    }

    init(_ name: String, _ value: String) { self.init(Array(name.utf8), Array(value.utf8)) }

    var tableSize: Int { name.count + value.count + 32 }
    var description: String {
        func text(_ bytes: [UInt8]) -> String {
            bytes.count > 80 ? "(\(bytes.count) bytes)" : String(decoding: bytes, as: UTF8.self)
        }
        return "\(text(name)): \(text(value))"
    }
}

/// Pseudo-random numbers that a seed repeats.
struct SeededNumbers {
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64 = .random(in: .min ... .max)) {
        self.seed = seed
        state = seed
    }

    /// 0..<bound.
    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    mutating func byte() -> UInt8 { UInt8(next(256)) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }
}

/// Ours, with every field's mark checked against its name.
final class OurDecoder {
    let decoder: HPACKDecoder
    private(set) var isMarkedRight = true

    init(_ tableSize: Int = 4096) {
        decoder = HPACKDecoder(tableSize: tableSize, names: HPACKNames { Self.mark($0, $1) })
    }

    static func mark(_ name: UnsafePointer<UInt8>, _ count: Int) -> UInt8 {
        // Made for 61 static names with each decoder: unoptimised, this loop costs a tenth of one over a range.
        var mark = UInt8(truncatingIfNeeded: count)
        var place = 0
        while place < count {
            mark = mark &* 31 &+ name[place]
            place += 1
        }
        return mark
    }

    /// nil when the block failed. The block lies in memory of exactly its size.
    func decode(_ block: [UInt8]) -> [DecodedField]? {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, block.count))
        defer { bytes.deallocate() }
        for (place, byte) in block.enumerated() { bytes[place] = byte }
        decoder.begin(bytes, block.count)
        var fields: [DecodedField] = []
        var field = HPACKField()
        while true {
            switch decoder.next(&field) {
            case .failed: return nil
            case .end: return fields
            case .field:
                if field.mark != Self.mark(field.name, field.nameLength) { isMarkedRight = false }
                fields.append(
                    DecodedField(
                        Array(UnsafeBufferPointer(start: field.name, count: field.nameLength)),
                        Array(UnsafeBufferPointer(start: field.value, count: field.valueLength))))
            }
        }
    }
}

/// nghttp2's decoder: an implementation that is not ours.
final class PeerInflater {
    private let inflater: OpaquePointer

    init(_ tableSize: Int = 4096) {
        var created: OpaquePointer?
        precondition(nghttp2_hd_inflate_new(&created) == 0)
        inflater = created!
        guard tableSize != 4096 else { return }
        // Its own way to begin with another size: the change, and the update that answers it.
        setLimit(tableSize)
        var update: [UInt8] = []
        HPACKWriter.integer(tableSize, prefix: 5, first: 0x20, into: &update)
        precondition(decode(update) == [])
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    func setLimit(_ size: Int) { precondition(nghttp2_hd_inflate_change_table_size(inflater, size) == 0) }

    var tableUsed: Int { nghttp2_hd_inflate_get_dynamic_table_size(inflater) }

    /// nil when the block failed.
    func decode(_ block: [UInt8]) -> [DecodedField]? {
        var fields: [DecodedField] = []
        var offset = 0
        return block.withUnsafeBufferPointer { block in
            var nothing: UInt8 = 0
            return withUnsafeMutablePointer(to: &nothing) { nothing in
                while true {
                    var field = nghttp2_nv()
                    var flags: Int32 = 0
                    let start = block.baseAddress.map { $0 + offset } ?? UnsafePointer(nothing)
                    let used = nghttp2_hd_inflate_hd2(inflater, &field, &flags, start, block.count - offset, 1)
                    guard used >= 0 else { return nil }
                    offset += used
                    if UInt32(bitPattern: flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 {
                        fields.append(
                            DecodedField(
                                Array(UnsafeBufferPointer(start: field.name, count: field.namelen)),
                                Array(UnsafeBufferPointer(start: field.value, count: field.valuelen))))
                    }
                    if UInt32(bitPattern: flags) & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 {
                        nghttp2_hd_inflate_end_headers(inflater)
                        return fields
                    }
                }
            }
        }
    }
}

/// nghttp2's encoder.
final class PeerDeflater {
    private let deflater: OpaquePointer

    init(_ tableSize: Int = 4096) {
        var created: OpaquePointer?
        precondition(nghttp2_hd_deflate_new(&created, tableSize) == 0)
        deflater = created!
    }

    deinit { nghttp2_hd_deflate_del(deflater) }

    func setLimit(_ size: Int) { precondition(nghttp2_hd_deflate_change_table_size(deflater, size) == 0) }

    func encode(_ fields: [DecodedField], neverIndexed: Set<Int> = []) -> [UInt8] {
        // All text in one piece of memory that stays where it is.
        var text: [UInt8] = []
        for field in fields { text += field.name + field.value }
        text.append(0)
        return text.withUnsafeMutableBufferPointer { text in
            var list: [nghttp2_nv] = []
            var start = text.baseAddress!
            for (place, field) in fields.enumerated() {
                let flags = neverIndexed.contains(place) ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                list.append(
                    nghttp2_nv(
                        name: start, value: start + field.name.count, namelen: field.name.count,
                        valuelen: field.value.count, flags: UInt8(flags.rawValue)))
                start += field.name.count + field.value.count
            }
            var output = [UInt8](repeating: 0, count: nghttp2_hd_deflate_bound(deflater, list, list.count))
            let count = nghttp2_hd_deflate_hd(deflater, &output, output.count, list, list.count)
            precondition(count >= 0)
            return Array(output[..<count])
        }
    }
}
