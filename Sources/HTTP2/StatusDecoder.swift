import CNghttp2
import Glibc

/// Finds `:status` in answers' header blocks, keeping HPACK's state (RFC 7541), and sees to it that its place and the
/// fields' names are as RFC 9113 sections 8.2 and 8.3 want them.
///
/// A block of only static entries and literals that change no state is walked over; any other goes to nghttp2's inflater.
public final class StatusDecoder {
    /// What `status` returns for a block that can be decoded, but is malformed: an error of its stream only.
    public static let malformed = UInt16.max
    private let inflater: OpaquePointer

    /// - Parameter tableSize: the SETTINGS_HEADER_TABLE_SIZE we announced.
    public init(tableSize: Int) {
        var created: OpaquePointer?
        precondition(nghttp2_hd_inflate_new(&created) == 0, "out of memory")
        inflater = created!
        nghttp2_hd_inflate_change_table_size(inflater, tableSize)
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// The status; 0 when the block has none (trailers), `malformed` when its stream is to be reset, nil when it cannot be
    /// decoded: the connection is lost then.
    public func status(_ block: UnsafePointer<UInt8>, _ count: Int) -> UInt16? {
        if let status = walk(block, count) { return status }
        return inflate(block, count)
    }

    /// nil when the block needs the inflater. The status comes first, or the inflater has to say what it makes of it.
    @inline(__always)
    private func walk(_ block: UnsafePointer<UInt8>, _ count: Int) -> UInt16? {
        guard count > 0 else { return nil }
        let status: UInt16
        switch block[0] {
        case 0x88: status = 200
        case 0x89: status = 204
        case 0x8A: status = 206
        case 0x8B: status = 304
        case 0x8C: status = 400
        case 0x8D: status = 404
        case 0x8E: status = 500
        default: return nil
        }
        var position = 1
        while position < count {
            let first = block[position]
            position &+= 1
            if first == 0x00 || first == 0x10 {
                let name = position
                guard skip(block, count, &position), isPlain(block + name), skip(block, count, &position) else {
                    return nil
                }
            } else {
                // Static entries that are no pseudo-header fields.
                guard (0x8F...0xBD).contains(first) else { return nil }
            }
        }
        return status
    }

    /// Is this, a string of fewer than 127 bytes, the name of a usual field, not coded with Huffman?
    @inline(__always)
    private func isPlain(_ string: UnsafePointer<UInt8>) -> Bool {
        guard string[0] < 0x80, string[0] > 0 else { return false }
        for place in 1...Int(string[0]) where !Self.isLowercase(string[place]) { return false }
        return true
    }

    /// a to z and `-`: not all that a name may have, but all that usual ones do.
    @inline(__always)
    private static func isLowercase(_ byte: UInt8) -> Bool { byte &- 0x61 < 26 || byte == 0x2D }

    /// Skips a string of fewer than 127 bytes.
    @inline(__always)
    private func skip(_ block: UnsafePointer<UInt8>, _ count: Int, _ position: inout Int) -> Bool {
        guard position < count else { return false }
        let length = Int(block[position] & 0x7F)
        guard length < 127, position &+ 1 &+ length <= count else { return false }
        position &+= 1 &+ length
        return true
    }

    private func inflate(_ block: UnsafePointer<UInt8>, _ count: Int) -> UInt16? {
        var status: UInt16 = 0
        var isMalformed = false
        var hasRegular = false
        var offset = 0
        while true {
            var field = nghttp2_nv()
            var flags: Int32 = 0
            let used = nghttp2_hd_inflate_hd2(inflater, &field, &flags, block + offset, count - offset, 1)
            guard used >= 0 else { return nil }
            offset += used
            let flag = UInt32(bitPattern: flags)
            if flag & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 {
                if field.namelen > 0, field.name[0] == 0x3A {
                    let value = Self.value(ofStatus: field)
                    // One `:status`, before all other fields, and no other pseudo-header field (section 8.3).
                    if value == 0 || status != 0 || hasRegular { isMalformed = true }
                    status = value
                } else {
                    hasRegular = true
                    // Checks for lower case, too (section 8.2.1).
                    if nghttp2_check_header_name(field.name, field.namelen) == 0 { isMalformed = true }
                }
            }
            if flag & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                return isMalformed ? Self.malformed : status
            }
            if flag & NGHTTP2_HD_INFLATE_EMIT.rawValue == 0, offset >= count { return nil }
        }
    }

    /// 100 to 999; 0 when the field is not a `:status` of three digits.
    private static func value(ofStatus field: nghttp2_nv) -> UInt16 {
        guard field.namelen == 7, memcmp(field.name, ":status", 7) == 0, field.valuelen == 3 else { return 0 }
        var value: UInt16 = 0
        for place in 0..<3 {
            guard (48...57).contains(field.value[place]) else { return 0 }
            value = value * 10 + UInt16(field.value[place] - 48)
        }
        return value >= 100 ? value : 0
    }
}
