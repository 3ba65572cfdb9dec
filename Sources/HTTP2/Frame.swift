/// HTTP/2 frames as bytes: RFC 9113 section 4.1 and 6.
public enum Frame {
    public static let headerLength = 9
    public static let data: UInt8 = 0
    public static let headers: UInt8 = 1
    public static let priority: UInt8 = 2
    public static let reset: UInt8 = 3
    public static let settings: UInt8 = 4
    public static let pushPromise: UInt8 = 5
    public static let ping: UInt8 = 6
    public static let goAway: UInt8 = 7
    public static let windowUpdate: UInt8 = 8
    public static let continuation: UInt8 = 9

    public static let endStream: UInt8 = 0x1
    public static let acknowledgement: UInt8 = 0x1
    public static let endHeaders: UInt8 = 0x4
    public static let padded: UInt8 = 0x8
    public static let hasPriority: UInt8 = 0x20

    /// What a client sends first (RFC 9113 section 3.4).
    public static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Writes the nine bytes before a frame's payload.
    @inline(__always)
    public static func writeHeader(
        length: Int, type: UInt8, flags: UInt8, stream: Int32, into output: UnsafeMutablePointer<UInt8>
    ) {
        output[0] = UInt8(truncatingIfNeeded: length >> 16)
        output[1] = UInt8(truncatingIfNeeded: length >> 8)
        output[2] = UInt8(truncatingIfNeeded: length)
        output[3] = type
        output[4] = flags
        write32(UInt32(bitPattern: stream), into: output + 5)
    }

    /// Bytes of the frame that begins at `bytes`, with its header; nil when fewer than that are there.
    public static func wholeLength(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int? {
        guard count >= headerLength else { return nil }
        let length = headerLength + Int(bytes[0]) << 16 + Int(bytes[1]) << 8 + Int(bytes[2])
        return length <= count ? length : nil
    }

    @inline(__always)
    public static func write32(_ value: UInt32, into output: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(output).storeBytes(of: value.bigEndian, as: UInt32.self)
    }

    @inline(__always)
    public static func read32(_ input: UnsafePointer<UInt8>) -> UInt32 {
        UInt32(bigEndian: UnsafeRawPointer(input).loadUnaligned(as: UInt32.self))
    }

    /// Identifiers of SETTINGS parameters (RFC 9113 section 6.5.2).
    public enum Setting {
        public static let headerTableSize: UInt16 = 1
        public static let enablePush: UInt16 = 2
        public static let maxConcurrentStreams: UInt16 = 3
        public static let initialWindowSize: UInt16 = 4
        public static let maxFrameSize: UInt16 = 5
        static let maxHeaderListSize: UInt16 = 6

        static let names = [
            headerTableSize: "headerTableSize", enablePush: "enablePush", maxConcurrentStreams: "maxConcurrentStreams",
            initialWindowSize: "initialWindowSize", maxFrameSize: "maxFrameSize",
            maxHeaderListSize: "maxHeaderListSize",
        ]
    }
}
