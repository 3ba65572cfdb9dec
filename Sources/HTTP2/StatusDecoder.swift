import CNghttp2
import Glibc

/// Finds `:status` and `content-length` in answers' header blocks, keeping HPACK's state (RFC 7541), and sees to it that the
/// fields are as RFC 9113 sections 8.2 and 8.3 want them.
///
/// A block of only static entries and literals that change no state, are not coded with Huffman and have no rules of their own
/// is walked over; any other goes to nghttp2's inflater, but one that is the same as the last one that did (`RepeatedHead`).
public final class StatusDecoder {
    /// What a header block says.
    public struct Head {
        /// 0 when the block has none (trailers), `malformed` when its stream is to be reset.
        public var status: UInt16
        /// Bytes of DATA, at most 2^31-1; -1 when the block does not say.
        public var contentLength: Int32 = -1
    }

    /// The status of a block that can be decoded, but is malformed: an error of its stream only.
    public static let malformed = UInt16.max
    /// What is wrong with a block that was `malformed`.
    public private(set) var fault = ""
    /// `retry-after` of the last block that was not just walked over; empty: it had none.
    private(set) var retryAfter = ""
    private static let longestRetryAfter = 64
    private let inflater: OpaquePointer
    private var repeated = RepeatedHead()
    /// The most that the dynamic table can hold: each counts for 32 bytes at least (RFC 7541 section 4.1).
    private let mostEntries: Int

    /// - Parameter tableSize: the SETTINGS_HEADER_TABLE_SIZE we announced.
    public init(tableSize: Int) {
        var created: OpaquePointer?
        precondition(nghttp2_hd_inflate_new(&created) == 0, "out of memory")
        inflater = created!
        nghttp2_hd_inflate_change_table_size(inflater, tableSize)
        // The table has its first size until the peer says another.
        mostEntries = max(tableSize, 4096) / 32
    }

    deinit {
        nghttp2_hd_inflate_del(inflater)
        repeated.free()
    }

    /// - Returns: nil when the block cannot be decoded: the connection is lost then.
    public func head(_ block: UnsafePointer<UInt8>, _ count: Int) -> Head? {
        if let status = walk(block, count) { return Head(status: status) }
        if let head = repeated.find(block, count) {
            if !retryAfter.isEmpty { retryAfter = "" }
            return head
        }
        return meet(block, count)
    }

    /// A block that is another one than the last.
    @inline(never)
    private func meet(_ block: UnsafePointer<UInt8>, _ count: Int) -> Head? {
        guard repeated.settle(entries: mostEntries, { inflate($0, $1) != nil }) else { return nil }
        repeated.forget()
        guard let head = inflate(block, count) else { return nil }
        if head.status != Self.malformed, retryAfter.isEmpty { repeated.keep(block, count, head) }
        return head
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
                guard skipName(block, count, &position), skipValue(block, count, &position) else { return nil }
            } else {
                // Static entries that are no pseudo-header fields, nor content-length or transfer-encoding.
                guard (0x8F...0xBD).contains(first), first != 0x9C, first != 0xB9 else { return nil }
            }
        }
        return status
    }

    /// Skips the name of a field without rules, of fewer than 127 bytes, not coded with Huffman. A value has to follow.
    @inline(__always)
    private func skipName(_ block: UnsafePointer<UInt8>, _ count: Int, _ position: inout Int) -> Bool {
        if count &- position > 8,
            UnsafeRawPointer(block + position).loadUnaligned(as: UInt64.self) == Self.identifierName
        {
            position &+= 8
            return true
        }
        guard position < count else { return false }
        let length = Int(block[position])
        let name = position &+ 1
        guard length < 127, name &+ length < count, HeaderMark.of(block + name, length) == HeaderMark.other else {
            return false
        }
        position = name &+ length
        return true
    }

    /// `apns-id`, which every answer of APNs has, with its length before it.
    private static let identifierName = UInt64(littleEndian: 0x6469_2D73_6E70_6107)

    /// Skips a value that is valid, of fewer than 127 bytes, not coded with Huffman. There is a byte to read.
    @inline(__always)
    private func skipValue(_ block: UnsafePointer<UInt8>, _ count: Int, _ position: inout Int) -> Bool {
        let length = Int(block[position])
        let value = position &+ 1
        guard length < 127, value &+ length <= count, FieldValue.isValid(block + value, length) else { return false }
        position = value &+ length
        return true
    }

    private func inflate(_ block: UnsafePointer<UInt8>, _ count: Int) -> Head? {
        var head = Head(status: 0)
        var hasRegular = false
        var offset = 0
        fault = ""
        if !retryAfter.isEmpty { retryAfter = "" }
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
                    if value == 0 {
                        note("a pseudo-header field that is no :status of three digits")
                    } else if head.status != 0 || hasRegular {
                        note(head.status != 0 ? "a second :status" : ":status after other fields")
                    }
                    head.status = value
                } else {
                    hasRegular = true
                    check(field, &head)
                }
            }
            if flag & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                if !fault.isEmpty { head.status = Self.malformed }
                return head
            }
            if flag & NGHTTP2_HD_INFLATE_EMIT.rawValue == 0, offset >= count { return nil }
        }
    }

    /// The first thing wrong with a block is kept.
    private func note(_ fault: String) { if self.fault.isEmpty { self.fault = fault } }

    /// A field that is no pseudo-header field, by RFC 9113 sections 8.1.1 and 8.2.
    private func check(_ field: nghttp2_nv, _ head: inout Head) {
        switch HeaderMark.of(field.name, field.namelen) {
        case HeaderMark.other:
            if field.namelen == 11, memcmp(field.name, "retry-after", 11) == 0,
                field.valuelen <= Self.longestRetryAfter
            {
                retryAfter = String(
                    decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen), as: UTF8.self)
            }
        case HeaderMark.contentLength: takeContentLength(field, &head)
        case HeaderMark.connectionSpecific:
            let name = UnsafeBufferPointer(start: field.name, count: field.namelen)
            note("the connection-specific field \(String(decoding: name, as: UTF8.self))")
        case HeaderMark.te:
            if field.valuelen != 8 || memcmp(field.value, "trailers", 8) != 0 { note("te other than trailers") }
        default: note("a field name that is empty, or has upper case or characters that no name has")
        }
        if !FieldValue.isValid(field.value, field.valuelen) {
            note("a field value with NUL, CR, LF, or blanks at its ends")
        }
    }

    private func takeContentLength(_ field: nghttp2_nv, _ head: inout Head) {
        guard head.contentLength < 0 else { return note("content-length twice") }
        guard field.valuelen > 0 else { return note("content-length without a number") }
        var value: Int64 = 0
        for place in 0..<field.valuelen {
            let digit = field.value[place] &- 0x30
            guard digit <= 9 else { return note("content-length that is no number") }
            value = min(value * 10 + Int64(digit), Int64(Int32.max))
        }
        head.contentLength = Int32(value)
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
