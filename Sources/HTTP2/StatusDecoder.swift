import CNghttp2

/// Finds `:status` in answers' header blocks, keeping HPACK's state (RFC 7541).
///
/// A block of only static entries and literals that change no state is walked over; any other goes to nghttp2's inflater.
public final class StatusDecoder {
    private let inflater: OpaquePointer

    /// - Parameter tableSize: the SETTINGS_HEADER_TABLE_SIZE we announced.
    public init(tableSize: Int) {
        var created: OpaquePointer?
        precondition(nghttp2_hd_inflate_new(&created) == 0, "out of memory")
        inflater = created!
        nghttp2_hd_inflate_change_table_size(inflater, tableSize)
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// The status; 0 when the block has none (trailers), nil when it cannot be decoded: the connection is lost then.
    public func status(_ block: UnsafePointer<UInt8>, _ count: Int) -> UInt16? {
        if let status = walk(block, count) { return status }
        return inflate(block, count)
    }

    /// nil when the block needs the inflater.
    @inline(__always)
    private func walk(_ block: UnsafePointer<UInt8>, _ count: Int) -> UInt16? {
        var position = 0
        var status: UInt16 = 0
        while position < count {
            let first = block[position]
            position &+= 1
            if first & 0x80 != 0 {
                switch first {
                case 0x88: status = 200
                case 0x89: status = 204
                case 0x8A: status = 206
                case 0x8B: status = 304
                case 0x8C: status = 400
                case 0x8D: status = 404
                case 0x8E: status = 500
                case 0x8F...0xBD: continue
                default: return nil
                }
            } else if first == 0x00 || first == 0x10 {
                guard skip(block, count, &position), skip(block, count, &position) else { return nil }
            } else {
                return nil
            }
        }
        // None found: trailers, or a `:status` spelt out, which the inflater will tell.
        return status == 0 ? nil : status
    }

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
        var offset = 0
        while true {
            var field = nghttp2_nv()
            var flags: Int32 = 0
            let used = nghttp2_hd_inflate_hd2(inflater, &field, &flags, block + offset, count - offset, 1)
            guard used >= 0 else { return nil }
            offset += used
            let flag = UInt32(bitPattern: flags)
            if flag & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0, field.namelen == 7, field.name[0] == 0x3A,
                field.name[1] == 0x73, field.valuelen == 3
            {
                for index in 0..<3 {
                    guard (48...57).contains(field.value[index]) else { return nil }
                    status = status * 10 + UInt16(field.value[index] - 48)
                }
            }
            if flag & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                return status
            }
            if flag & NGHTTP2_HD_INFLATE_EMIT.rawValue == 0, offset >= count { return nil }
        }
    }
}
