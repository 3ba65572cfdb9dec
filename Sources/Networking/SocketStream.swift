import COpenSSL
import Glibc

/// One TCP connection, plain or under TLS, non-blocking; the descriptor and the `SSL` object are owned here. TLS may want to
/// write before it can read and the other way round; `interest` tells.
///
/// OpenSSL shakes hands. After that it goes on with TLS 1.2; records of TLS 1.3 are `TLSRecords`, and the `SSL` is given up.
public final class SocketStream: ByteStream {
    public override var descriptor: Int32 { port.pointee.descriptor }
    /// Owned here; OpenSSL holds the same pointer until `SSL_free`.
    let port: UnsafeMutablePointer<SocketPort>
    private var tls: OpaquePointer?
    /// Owned here; the traffic secrets while hands are shaken.
    var secrets: UnsafeMutablePointer<TLSSecrets>?
    /// Owned here; nil before TLS 1.3 is agreed on.
    var tls13: UnsafeMutablePointer<TLSRecords>?
    let context: TLSContext?
    /// The host's name or address that a client's peer has to have a certificate for; empty for a server.
    let serverName: String
    private var connected: Bool
    private var secured: Bool
    private var wantsWrite = false
    /// Where sealed records are put to be sent together; nil: each is sent by itself.
    let buffers: BufferPool?
    /// Of the records gathered last: where each ends in the buffer, and how many of the caller's bytes are in it.
    private var recordEnds = InlineArray<4, Int>(repeating: 0)
    private var recordBytes = InlineArray<4, Int>(repeating: 0)
    private var records = 0
    /// Those that have been sent whole and told.
    private var recordsTold = 0
    private static let recordSize = TLSDirection.mostContent
    /// Of OpenSSL's name of the cipher suite, which lives as long as the process; nil before hands are shaken.
    var suite: UnsafePointer<CChar>?
    var hasALPN = true
    /// Owned here: what the peer showed, of which a server's owner may ask after the handshake.
    var shown: OpaquePointer?
    var verification = Int(X509_V_OK)

    private var handshaking: UInt64 = 0
    public override var handshakeTime: UInt64 { handshaking }

    private var problem: NetworkError?
    public override var failure: NetworkError? { problem }
    /// A client that has not heard a byte yet. A peer that hangs up on a plain one may have expected TLS. One that had asked for a
    /// certificate, and sends an alert of certificates, means that.
    private var isUnheard = false
    var isAskedForCertificate = false

    /// Starts connecting to `address`; `serverName` is sent as SNI and checked against the certificate.
    ///
    /// - Parameter buffers: of the thread that uses the stream; with them up to four TLS records come and leave in one call of the
    ///   kernel. Each holds 66,560 bytes or more. nil: one record at a time.
    public init(
        connectingTo address: SocketAddress, serverName: String, tls context: TLSContext?, options: SocketOptions,
        gathering buffers: BufferPool? = nil
    ) throws(NetworkError) {
        let begin = ThreadTime.now()
        let opened = socket(
            address.family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard opened >= 0 else { throw NetworkError(.connect, "socket: \(systemErrorText(errno))") }
        options.apply(to: opened)
        port = .allocate(capacity: 1)
        port.initialize(to: SocketPort(descriptor: opened))
        var session: OpaquePointer?
        if let context {
            session = SSL_new(context.context)
            guard let session, SocketBIO.attach(session, to: port, usesKernelTLS: context.options.kernelTLS) else {
                SSL_free(session)
                port.deallocate()
                close(opened)
                throw NetworkError(.tls, "OpenSSL cannot make a session: \(opensslErrorText())")
            }
            SSL_set_connect_state(session)
            var numeric = in6_addr()
            let isNumeric =
                inet_pton(AF_INET, serverName, &numeric) == 1 || inet_pton(AF_INET6, serverName, &numeric) == 1
            if !isNumeric { _ = pushload_SSL_set_tlsext_host_name(session, serverName) }
            if context.verifiesPeer {
                let parameters = SSL_get0_param(session)
                if isNumeric {
                    X509_VERIFY_PARAM_set1_ip_asc(parameters, serverName)
                } else {
                    X509_VERIFY_PARAM_set1_host(parameters, serverName, 0)
                }
            }
        }
        tls = session
        secrets = Self.collectSecrets(session, context)
        self.context = context
        self.serverName = serverName
        self.buffers = Self.pool(buffers, context)
        connected = false
        secured = context == nil
        isUnheard = true
        super.init()
        let status = address.withSockAddr { connect(opened, $0, $1) }
        if status == 0 {
            connected = true
        } else if errno != EINPROGRESS {
            fail(connectError(errno))
        }
        wantsWrite = true
        handshaking = ThreadTime.now() &- begin
    }

    /// Takes over a descriptor that `Listener.accept` returned; it is closed with the stream.
    public init(
        accepted: Int32, tls context: TLSContext?, options: SocketOptions, gathering buffers: BufferPool? = nil
    ) throws(NetworkError) {
        let begin = ThreadTime.now()
        port = .allocate(capacity: 1)
        port.initialize(to: SocketPort(descriptor: accepted))
        self.context = context
        serverName = ""
        self.buffers = Self.pool(buffers, context)
        connected = true
        secured = context == nil
        options.apply(to: accepted)
        guard let context else {
            tls = nil
            super.init()
            return
        }
        let session = SSL_new(context.context)
        guard let session, SocketBIO.attach(session, to: port, usesKernelTLS: context.options.kernelTLS) else {
            SSL_free(session)
            port.deallocate()
            close(accepted)
            throw NetworkError(.tls, "OpenSSL cannot make a session: \(opensslErrorText())")
        }
        tls = session
        secrets = Self.collectSecrets(session, context)
        super.init()
        SSL_set_accept_state(session)
        handshaking = ThreadTime.now() &- begin
    }

    /// The kernel seals by itself, and nothing seals a plain connection.
    private static func pool(_ buffers: BufferPool?, _ context: TLSContext?) -> BufferPool? {
        guard let context, !context.options.kernelTLS else { return nil }
        return buffers ?? BufferPool(capacity: recordSize + 1024)
    }

    private static func collectSecrets(
        _ session: OpaquePointer?, _ context: TLSContext?
    ) -> UnsafeMutablePointer<TLSSecrets>? {
        guard let session, let context, !context.options.kernelTLS else { return nil }
        let secrets = UnsafeMutablePointer<TLSSecrets>.allocate(capacity: 1)
        secrets.initialize(to: TLSSecrets())
        TLSSecrets.collect(session, in: secrets)
        return secrets
    }

    deinit {
        endHandshake()
        if let tls13 {
            tls13.pointee.free()
            tls13.deinitialize(count: 1)
            tls13.deallocate()
        }
        X509_free(shown)
        close(descriptor)
        if let buffer = port.pointee.gathered { buffers?.giveBack(buffer) }
        port.deallocate()
    }

    /// The `SSL` is of no more use.
    func endHandshake() {
        freeSecrets()
        if let tls { SSL_free(tls) }
        tls = nil
    }

    func freeSecrets() {
        guard let secrets else { return }
        if let tls { TLSSecrets.collect(tls, in: nil) }
        secrets.deinitialize(count: 1)
        secrets.deallocate()
        self.secrets = nil
    }

    /// When the send(2) that took the last bytes `write` told of began, `MonotonicClock`.
    public override var sendTime: UInt64 { port.pointee.sendTime }

    /// Time in the kernel's recv and send, counts of `CycleClock`.
    public override var socketCycles: UInt64 { port.pointee.cycles }

    /// Two calls of the kernel; of TCP.
    public override var progress: (given: UInt64, taken: UInt64) {
        // tcpi_bytes_acked of <linux/tcp.h>, whose structure glibc's header does not have whole: the 16th of its 64-bit words.
        var facts = InlineArray<16, UInt64>(repeating: 0)
        var length = socklen_t(MemoryLayout.size(ofValue: facts))
        var queued: Int32 = 0
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &facts, &length) == 0, length == 128,
            ioctl(descriptor, UInt(TIOCOUTQ), &queued) == 0
        else { return (0, 0) }
        return (facts[15] &+ UInt64(max(0, queued)), facts[15])
    }

    /// What the owner should wait for while it has nothing of its own to write.
    public override var interest: Readiness { wantsWrite ? [.readable, .writable] : .readable }

    /// True when decrypted or half-read bytes wait inside TLS, which epoll cannot see.
    public override var hasBufferedInput: Bool {
        if let tls13 { return tls13.pointee.hasInput }
        guard let tls else { return false }
        return SSL_has_pending(tls) == 1
    }

    /// The negotiated TLS version and cipher, `TLSv1.3 TLS_AES_256_GCM_SHA384`, and what is unusual about the connection; nil on a
    /// plain one.
    public override var tlsDescription: String? {
        guard let suite else { return nil }
        // Whether the kernel took this version and cipher.
        let isInKernel =
            context?.options.kernelTLS == true && tls.map { pushload_BIO_get_ktls_send(SSL_get_wbio($0)) > 0 } == true
        let version = tls.flatMap { SSL_get_version($0) }.map { String(cString: $0) } ?? "TLSv1.3"
        return "\(version) \(String(cString: suite))\(isInKernel ? " in the kernel" : "")"
            + (hasALPN ? "" : " without ALPN")
    }

    /// `127.0.0.1:40312`; `-` when there is none any more.
    public override var peerAddress: String {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return status == 0 ? SocketAddress(storage: storage, length: length).description : "-"
    }

    /// What the peer's certificate says, if it showed one.
    public override var peerCertificate: PeerCertificate? {
        shown.map { PeerCertificate($0, verification: verification) }
    }

    public override var isTLS12: Bool {
        guard let tls else { return false }
        return SSL_version(tls) == TLS1_2_VERSION
    }

    /// Goes on connecting and shaking hands; call it when the descriptor is ready.
    public override func advance() -> ConnectResult {
        if failure != nil { return .failed }
        let begin = ThreadTime.now()
        defer { handshaking &+= ThreadTime.now() &- begin }
        return goOn()
    }

    private func goOn() -> ConnectResult {
        if !connected {
            let code = pendingError(of: descriptor)
            guard code == 0 else {
                fail(connectError(code))
                return .failed
            }
            // Writable without an error and with a peer: connected. Without a peer: a spurious wake-up.
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let peer = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            guard peer == 0 else { return .inProgress }
            connected = true
        }
        guard let tls, !secured else {
            wantsWrite = false
            return .done
        }
        ERR_clear_error()
        let status = SSL_do_handshake(tls)
        if status == 1 {
            secured = true
            wantsWrite = false
            return settle(tls)
        }
        switch SSL_get_error(tls, status) {
        case SSL_ERROR_WANT_READ:
            wantsWrite = false
            return .inProgress
        case SSL_ERROR_WANT_WRITE:
            wantsWrite = true
            return .inProgress
        default:
            fail(handshakeError(tls))
            return .failed
        }
    }

    var isServer: Bool { context?.side == .server }

    private func connectError(_ code: Int32) -> NetworkError {
        code == ECONNREFUSED
            ? NetworkError(.refused, "connection refused")
            : NetworkError(.connect, "cannot connect: \(systemErrorText(code))")
    }

    func fail(_ error: NetworkError) {
        if problem == nil { problem = error }
    }

    /// Reads up to `capacity` bytes.
    public override func read(into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> IOResult {
        if let tls13 {
            let (count, outcome) = tls13.pointee.read(port, into: buffer, capacity: capacity)
            if count > 0 {
                isUnheard = false
                return .bytes(count)
            }
            switch outcome {
            case nil: return socketFailure()
            case .endOfStream: return .endOfStream
            case .broken(let text, let alert):
                if let alert, problem == nil { say(alert, level: 2) }
                if let alert = tls13.pointee.peerAlert { return didHear(Int32(alert), text) }
                fail(NetworkError(.io, "TLS: \(text)"))
                return .failed
            }
        }
        guard let tls else {
            let count = port.pointee.receive(buffer, capacity)
            if count > 0 {
                isUnheard = false
                return .bytes(count)
            }
            if isUnheard, count == 0 || errno == ECONNRESET {
                problem = NetworkError(
                    count == 0 ? .closed : .reset,
                    "the peer closed the connection before it said anything" + NetworkError.speaksTLSHint)
                return .failed
            }
            return count == 0 ? .endOfStream : socketFailure()
        }
        let count = SSL_read(tls, buffer, Int32(clamping: capacity))
        guard count > 0 else { return tlsOutcome(tls, count) }
        isUnheard = false
        return .bytes(Int(count))
    }

    /// Writes up to `count` bytes; under TLS in records of at most 16,384.
    ///
    /// Unless all were taken, some of the others may be sealed: the next call has to begin with the same ones, at least as many.
    public override func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> IOResult {
        if tls13 != nil, let buffers { return writeGathered(bytes, count, buffers) }
        guard let tls else {
            let written = port.pointee.transmit(bytes, count)
            return written >= 0 ? .bytes(written) : socketFailure()
        }
        if let buffers, count > Self.recordSize || port.pointee.gathered != nil {
            return writeGathered(bytes, count, buffers)
        }
        if context?.options.kernelTLS == true { port.pointee.sendTime = MonotonicClock.now() }
        let written = SSL_write(tls, bytes, Int32(clamping: count))
        return written > 0 ? .bytes(Int(written)) : tlsOutcome(tls, written)
    }

    /// Seals up to four records, as many as a buffer holds, and sends them with one call.
    private func writeGathered(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ buffers: BufferPool) -> IOResult {
        if port.pointee.gathered != nil {
            let result = sendGathered()
            if port.pointee.gathered != nil || result != .bytes(0) { return result == .bytes(0) ? .wouldBlock : result }
        }
        port.pointee.gather(in: buffers.take(), capacity: buffers.capacity)
        records = 0
        recordsTold = 0
        var sealed = 0
        while sealed < count, records < recordEnds.count {
            let part = min(count - sealed, Self.recordSize)
            let taken: Int
            if let tls13 {
                guard port.pointee.seal(bytes + sealed, part, tls13) else {
                    if records > 0 { break }
                    fail(NetworkError(.io, "TLS: a record cannot be sealed"))
                    return .failed
                }
                taken = part
            } else {
                let written = SSL_write(tls, bytes + sealed, Int32(part))
                guard written > 0 else {
                    if records > 0 { break }
                    let outcome = tlsOutcome(tls!, written)
                    // What OpenSSL had to say, an alert for example, still goes out.
                    _ = sendGathered()
                    return outcome
                }
                taken = Int(written)
            }
            sealed += taken
            recordEnds[records] = port.pointee.gatheredEnd
            recordBytes[records] = taken
            records += 1
        }
        let result = sendGathered()
        return result == .bytes(0) ? .wouldBlock : result
    }

    /// Says an alert (RFC 8446, section 6) behind what has been written, as far as the kernel takes it.
    func say(_ alert: UInt8, level: UInt8) {
        guard let tls13, let buffers else { return }
        // Who breaks off tells nobody any more what has been sent.
        guard level == 1 || port.pointee.gathered == nil else { return }
        if port.pointee.gathered == nil { port.pointee.gather(in: buffers.take(), capacity: buffers.capacity) }
        _ = port.pointee.seal([level, alert], 2, type: TLSContent.alert, tls13)
        _ = sendGathered()
    }

    /// Sends what is gathered, as far as the kernel takes it; tells how many of the caller's bytes are now gone.
    private func sendGathered() -> IOResult {
        guard let buffer = port.pointee.gathered else { return .bytes(0) }
        let start = port.pointee.gatheredStart
        let sent = port.pointee.transmit(buffer + start, port.pointee.gatheredEnd - start)
        guard sent >= 0 else { return socketFailure() }
        port.pointee.gatheredStart = start + sent
        var told = 0
        while recordsTold < records, recordEnds[recordsTold] <= port.pointee.gatheredStart {
            told += recordBytes[recordsTold]
            recordsTold += 1
        }
        if port.pointee.gatheredStart == port.pointee.gatheredEnd {
            port.pointee.gathered = nil
            buffers?.giveBack(buffer)
        }
        return .bytes(told)
    }

    private func socketFailure() -> IOResult {
        switch errno {
        case EAGAIN: return .wouldBlock
        case ECONNRESET, EPIPE:
            fail(NetworkError(.reset, "connection reset by the peer"))
            return .failed
        default:
            fail(NetworkError(.io, systemErrorText(errno)))
            return .failed
        }
    }

    private func tlsOutcome(_ tls: OpaquePointer, _ status: Int32) -> IOResult {
        switch SSL_get_error(tls, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .endOfStream
        case SSL_ERROR_SYSCALL where errno == ECONNRESET || errno == EPIPE:
            ERR_clear_error()
            fail(NetworkError(.reset, "connection reset by the peer"))
            return .failed
        default:
            let code = ERR_peek_error()
            if code == 0 { return .endOfStream }
            // A peer that vanishes without close_notify ends the stream all the same.
            if ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING {
                ERR_clear_error()
                return .endOfStream
            }
            let text = opensslErrorText()
            if let alert = Self.peerAlert(code) { return didHear(alert, text) }
            fail(NetworkError(.io, "TLS: \(text)"))
            return .failed
        }
    }

    /// The peer has ended the connection with a fatal alert. The alert replaces a write's reset as the problem.
    private func didHear(_ alert: Int32, _ text: String) -> IOResult {
        if problem == nil || problem?.kind == .reset {
            problem =
                !isServer
                    && (alert == TLS13_AD_CERTIFICATE_REQUIRED
                        || isUnheard && isAskedForCertificate && Self.isOfCertificates(alert))
                ? certificateRefusal(text) : NetworkError(.tls, "TLS: \(text)")
        }
        return .failed
    }

    /// Lets the close that follows reset the connection (RST) instead of finishing it.
    public override func reset() {
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    /// Says goodbye (TLS close_notify, then FIN); what has been written still goes out.
    public override func finish() {
        if tls13 != nil, failure == nil {
            say(0, level: 1)
        } else if let tls, secured, failure == nil {
            ERR_clear_error()
            SSL_shutdown(tls)
            ERR_clear_error()
            _ = sendGathered()
        }
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }
}
