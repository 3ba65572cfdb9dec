import COpenSSL
import Glibc

/// A connected socket as OpenSSL and plain streams read and write it: one place where the kernel is asked, and its time known.
struct SocketPort {
    let descriptor: Int32
    /// Time in recv(2) and send(2), counts of `CycleClock`.
    var cycles: UInt64 = 0
    /// When the last send(2) began, `MonotonicClock`: the peer may answer, and the thread be put aside, before it returns.
    var sendTime: UInt64 = 0
    /// The peer has closed its side.
    var isAtEnd = false
    /// Records sealed but not yet sent, in a lent buffer; nil when there are none.
    var gathered: UnsafeMutablePointer<UInt8>?
    var gatheredStart = 0
    var gatheredEnd = 0
    private(set) var gatheredCapacity = 0
    private let clock = CycleClock.shared

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// As recv(2), tried again when a signal interrupts it.
    @inline(__always)
    mutating func receive(_ buffer: UnsafeMutableRawPointer, _ capacity: Int) -> Int {
        let begin = clock.now()
        var count = recv(descriptor, buffer, capacity, 0)
        while count < 0, errno == EINTR { count = recv(descriptor, buffer, capacity, 0) }
        cycles &+= clock.now() &- begin
        if count == 0 { isAtEnd = true }
        return count
    }

    /// As send(2), tried again when a signal interrupts it; no SIGPIPE.
    @inline(__always)
    mutating func transmit(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        sendTime = MonotonicClock.now()
        let begin = clock.now()
        var written = send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
        while written < 0, errno == EINTR { written = send(descriptor, bytes, count, Int32(MSG_NOSIGNAL)) }
        cycles &+= clock.now() &- begin
        return written
    }

    /// Keeps what OpenSSL writes in `buffer`, to be sent together.
    mutating func gather(in buffer: UnsafeMutablePointer<UInt8>, capacity: Int) {
        gathered = buffer
        gatheredCapacity = capacity
        gatheredStart = 0
        gatheredEnd = 0
    }

    /// Seals a record behind what is gathered, and before it the KeyUpdate that is owed.
    ///
    /// - Returns: false: there is no room for it, or OpenSSL failed.
    @inline(__always)
    mutating func seal(
        _ content: UnsafePointer<UInt8>, _ count: Int, type: UInt8 = TLSContent.data,
        _ records: UnsafeMutablePointer<TLSRecords>
    ) -> Bool {
        guard let gathered, gatheredCapacity - gatheredEnd >= count + TLSDirection.overhead + TLSRecords.updateSize
        else {
            return false
        }
        if records.pointee.owesUpdate { gatheredEnd += records.pointee.sealUpdate(into: gathered + gatheredEnd) }
        let length = records.pointee.seal(content, count, type: type, into: gathered + gatheredEnd)
        gatheredEnd += length
        return length > 0
    }

    /// What OpenSSL writes goes behind what is gathered already.
    ///
    /// - Returns: bytes taken, -1 when there is no room.
    fileprivate mutating func append(_ bytes: UnsafeRawPointer, _ count: Int, to buffer: UnsafeMutablePointer<UInt8>)
        -> Int
    {
        guard gatheredCapacity - gatheredEnd >= count else {
            errno = EAGAIN
            return -1
        }
        UnsafeMutableRawPointer(buffer + gatheredEnd).copyMemory(from: bytes, byteCount: count)
        gatheredEnd += count
        return count
    }
}

/// OpenSSL's way to a `SocketPort`.
enum SocketBIO {
    // Made once and never changed; OpenSSL only reads it.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket port") else { return nil }
        BIO_meth_set_write(method) { bio, bytes, count in
            guard let bio, let bytes, let port = SocketBIO.port(bio) else { return -1 }
            BIO_clear_flags(bio, SocketBIO.retryFlags)
            let written =
                if let buffer = port.pointee.gathered {
                    port.pointee.append(bytes, Int(count), to: buffer)
                } else {
                    port.pointee.transmit(bytes, Int(count))
                }
            if written < 0, errno == EAGAIN { BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY) }
            return Int32(written)
        }
        BIO_meth_set_read(method) { bio, buffer, capacity in
            guard let bio, let buffer, let port = SocketBIO.port(bio) else { return -1 }
            BIO_clear_flags(bio, SocketBIO.retryFlags)
            let count = port.pointee.receive(buffer, Int(capacity))
            if count < 0, errno == EAGAIN { BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY) }
            return Int32(count)
        }
        BIO_meth_set_ctrl(method) { bio, command, _, _ in
            switch command {
            case BIO_CTRL_FLUSH: 1
            case BIO_CTRL_EOF: bio.flatMap(SocketBIO.port)?.pointee.isAtEnd == true ? 1 : 0
            default: 0
            }
        }
        return method
    }()

    private static let retryFlags = BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY

    private static func port(_ bio: OpaquePointer) -> UnsafeMutablePointer<SocketPort>? {
        BIO_get_data(bio)?.assumingMemoryBound(to: SocketPort.self)
    }

    /// Lets a session read from and write to `port`, which must outlive it.
    ///
    /// - Parameter usesKernelTLS: OpenSSL's own socket BIO, as kTLS needs it; the time in the kernel is then not known.
    /// - Returns: false when there is no memory.
    static func attach(
        _ session: OpaquePointer, to port: UnsafeMutablePointer<SocketPort>, usesKernelTLS: Bool
    ) -> Bool {
        if usesKernelTLS { return SSL_set_fd(session, port.pointee.descriptor) == 1 }
        guard let method, let bio = BIO_new(method) else { return false }
        BIO_set_data(bio, port)
        BIO_set_init(bio, 1)
        // Takes over the only reference, for both directions.
        SSL_set_bio(session, bio, bio)
        return true
    }
}
