import CNghttp2
import HTTP2

/// What a client under test has sent: read by nghttp2's inflater and a frame parser of its own, which must find it right.
struct ClientSpeech {
    private final class Inflater {
        let inflater: OpaquePointer
        init() {
            var created: OpaquePointer?
            precondition(nghttp2_hd_inflate_new(&created) == 0)
            inflater = created!
        }
        deinit { nghttp2_hd_inflate_del(inflater) }

        func decode(_ block: [UInt8]) -> Int? {
            var offset = 0
            var fields = 0
            while true {
                var field = nghttp2_nv()
                var flags: Int32 = 0
                let used = block.withUnsafeBufferPointer {
                    nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress! + offset, block.count - offset, 1)
                }
                guard used >= 0 else { return nil }
                offset += used
                if UInt32(bitPattern: flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 { fields += 1 }
                if UInt32(bitPattern: flags) & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 {
                    nghttp2_hd_inflate_end_headers(inflater)
                    return fields
                }
            }
        }
    }

    private let inflater = Inflater()
    private var bytes: [UInt8] = []
    private var hasPreface = false
    private var nextStream: Int64
    private var sent = 0
    private var sentOn: [Int32: Int] = [:]
    private var ended = Set<Int32>()
    private var acknowledged = 0
    private(set) var goAwayCode: UInt32?

    init(firstStream: Int32) { nextStream = Int64(firstStream) }

    mutating func take(_ new: ArraySlice<UInt8>, _ said: ServerSpeech) {
        bytes += new
        if !hasPreface {
            guard bytes.count >= Frame.preface.count else { return }
            precondition(Array(bytes.prefix(Frame.preface.count)) == Frame.preface)
            bytes.removeFirst(Frame.preface.count)
            hasPreface = true
        }
        var position = 0
        while position + 9 <= bytes.count {
            let length = Int(bytes[position]) << 16 | Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
            guard position + 9 + length <= bytes.count else { break }
            let stream = bytes.withUnsafeBufferPointer {
                Int32(bitPattern: Frame.read32($0.baseAddress! + position + 5))
            }
            frame(
                bytes[position + 3], bytes[position + 4], stream,
                Array(bytes[(position + 9)..<(position + 9 + length)]), said)
            position += 9 + length
        }
        bytes.removeFirst(position)
    }

    private mutating func frame(
        _ type: UInt8, _ flags: UInt8, _ stream: Int32, _ payload: [UInt8], _ said: ServerSpeech
    ) {
        precondition(goAwayCode == nil, "a frame after GOAWAY")
        precondition(payload.count <= 16_384)
        switch type {
        case Frame.headers:
            precondition(Int64(stream) == nextStream, "stream \(stream), expected \(nextStream)")
            nextStream += 2
            // After SETTINGS of any bytes nobody here knows how large the table may be.
            guard !said.mayBreak else { return }
            let fields = inflater.decode(payload)
            precondition(fields ?? 0 >= 7, "a header block that nghttp2 does not read: \(payload)")
        case Frame.data:
            precondition(Int64(stream) < nextStream && !ended.contains(stream), "DATA on stream \(stream)")
            sent += payload.count
            sentOn[stream, default: 0] += payload.count
            if flags & Frame.endStream != 0 { ended.insert(stream) }
            guard !said.mayBreak else { return }
            precondition(sent <= said.connectionCredit, "more than the connection's window")
            precondition(sentOn[stream]! <= said.largestStreamCredit, "more than a stream's window")
        case Frame.settings where flags & Frame.acknowledgement != 0:
            precondition(payload.isEmpty)
            guard !said.mayBreak, acknowledged < said.tableSizes.count else { return }
            let sizes = said.tableSizes[acknowledged]
            acknowledged += 1
            if let smallest = sizes.min(), let last = sizes.last {
                if smallest < last { nghttp2_hd_inflate_change_table_size(inflater.inflater, smallest) }
                nghttp2_hd_inflate_change_table_size(inflater.inflater, last)
            }
        case Frame.goAway:
            goAwayCode = payload.withUnsafeBufferPointer { Frame.read32($0.baseAddress! + 4) }
        case Frame.reset, Frame.windowUpdate:
            precondition(payload.count == 4 && Int64(stream) < nextStream)
        case Frame.settings, Frame.ping: precondition(stream == 0)
        default: preconditionFailure("a frame of type \(type)")
        }
    }
}
