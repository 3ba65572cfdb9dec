import Foundation
import HTTP2
import Networking

/// One connection of a `SlowPeer`. Bytes go from its TCP socket to TLS, and back, through a socket pair, so that it is known
/// to the byte what has been taken from the kernel.
final class SlowConnection {
    let session = CollectingSession()
    /// Bytes taken of a TLS record that has not come whole.
    private(set) var partOfRecord = 0
    /// Nothing more comes from the client.
    private(set) var isAtEnd = false
    /// TLS has failed here.
    private(set) var isBroken = false
    private var socket: Int32
    private let inner: Int32
    private let stream: ByteStream
    private var isSecured = false
    private var isDamaging = false
    private var toClient: [UInt8] = []
    private var header: [UInt8] = []
    private var restOfRecord = 0
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    /// The client's end of the socket, in this process.
    private let clientEnd: Int32

    init(_ socket: Int32, _ context: TLSContext) throws {
        self.socket = socket
        guard let clientEnd = Self.otherEnd(of: socket) else {
            throw NetworkError(.io, "the client's end of the socket is not in this process")
        }
        self.clientEnd = clientEnd
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else {
            throw NetworkError(.io, "socketpair")
        }
        inner = ends[0]
        stream = try SocketStream(accepted: ends[1], tls: context, options: SocketOptions())
    }

    deinit {
        if socket >= 0 { close(socket) }
        close(inner)
    }

    // MARK: Reading

    /// Takes up to `limit` bytes from the kernel; returns how many there were.
    @discardableResult
    func take(_ limit: Int) -> Int {
        guard socket >= 0, !isAtEnd else { return 0 }
        let count = recv(socket, &buffer, min(limit, buffer.count), 0)
        if count == 0 || (count < 0 && errno != EAGAIN) { isAtEnd = true }
        guard count > 0 else { return 0 }
        // The client's small buffer is free again only with the acknowledgement.
        var isQuick: Int32 = 1
        _ = setsockopt(socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &isQuick, socklen_t(MemoryLayout<Int32>.size))
        follow(count)
        // TLS reads nothing after what it could not read.
        if isBroken { return count }
        if isDamaging { buffer[count - 1] ^= 0x55 }
        precondition(send(inner, buffer, count, Int32(MSG_NOSIGNAL)) == count, "the pair takes little")
        work()
        return count
    }

    /// Takes all that the client has handed to the kernel.
    func drain() {
        while !isAtEnd {
            // Asked first: what the client's kernel does not hold any more has been received here.
            let isSent = unsentByClient == 0
            while take(.max) > 0 {}
            if isSent { break }
        }
    }

    private var unsentByClient: Int32 {
        var count: Int32 = 0
        // SIOCOUTQ; a client that has closed its end holds nothing.
        return ioctl(clientEnd, 0x5411, &count) == 0 ? count : 0
    }

    /// Follows the records, which begin with five bytes: type, version, length.
    private func follow(_ count: Int) {
        var place = 0
        while place < count {
            if restOfRecord > 0 {
                let step = min(restOfRecord, count - place)
                restOfRecord -= step
                partOfRecord = restOfRecord == 0 ? 0 : partOfRecord + step
                place += step
            } else {
                header.append(buffer[place])
                place += 1
                partOfRecord = header.count
                if header.count == 5 {
                    restOfRecord = Int(header[3]) << 8 | Int(header[4])
                    header = []
                }
            }
        }
    }

    /// TLS and HTTP/2 take in what came.
    private func work() {
        if !isSecured {
            switch stream.advance() {
            case .done: isSecured = true
            case .inProgress: return
            case .failed: isBroken = true
            }
        }
        var plain = [UInt8](repeating: 0, count: 16_384)
        while !isBroken {
            switch stream.read(into: &plain, capacity: plain.count) {
            case .bytes(let count): if session.receive(plain, count: count) != nil { isBroken = true }
            case .wouldBlock: return
            case .endOfStream: return
            case .failed: isBroken = true
            }
        }
    }

    // MARK: Writing

    /// Says what there is to say, as far as the client's socket takes it.
    func speak() {
        if isSecured, !isBroken {
            var bytes: UnsafePointer<UInt8>?
            while true {
                let count = session.nextOutput(&bytes)
                if count <= 0 { break }
                guard stream.write(bytes!, count: count) == .bytes(count) else {
                    preconditionFailure("the pair is full")
                }
                collect()
            }
        }
        collect()
        guard socket >= 0, !toClient.isEmpty else { return }
        let count = send(socket, toClient, toClient.count, Int32(MSG_NOSIGNAL))
        if count > 0 { toClient.removeFirst(count) }
    }

    /// Takes what TLS has to say to the client.
    private func collect() {
        while true {
            let count = recv(inner, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            toClient += buffer[..<count]
        }
    }

    /// How the connection ends.
    enum Cut: CaseIterable, Sendable {
        /// FIN, and not a word of TLS.
        case fin
        case closeNotify
        case reset
        /// TLS finds the next record damaged, and says so.
        case alert
        /// Bytes that are no TLS.
        case garbage
    }

    func cut(_ cut: Cut) {
        switch cut {
        case .fin: shutdown(socket, Int32(SHUT_WR))
        case .closeNotify:
            stream.finish()
            speak()
            shutdown(socket, Int32(SHUT_WR))
        case .reset:
            var value = linger(l_onoff: 1, l_linger: 0)
            _ = setsockopt(socket, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
            hangUp()
        case .alert: isDamaging = true
        case .garbage:
            toClient += [UInt8](repeating: 0xEE, count: 64)
            speak()
        }
    }

    /// Closes the socket; the kernel resets the connection when something was not read.
    func hangUp() {
        close(socket)
        socket = -1
        isAtEnd = true
    }

    // MARK: The client's end

    /// Looked for among all descriptors: other tests may hold any number of them.
    private static func otherEnd(of socket: Int32) -> Int32? {
        guard let (here, there) = ports(socket) else { return nil }
        let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return descriptors?.compactMap { Int32($0) }.first { descriptor in
            guard let (near, far) = ports(descriptor) else { return false }
            return near == there && far == here
        }
    }

    private static func ports(_ descriptor: Int32) -> (UInt16, UInt16)? {
        func port(_ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) -> UInt16? {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(descriptor, $0, &length) }
            }
            return status == 0 && address.sin_family == AF_INET ? address.sin_port : nil
        }
        guard let near = port({ getsockname($0, $1, $2) }), let far = port({ getpeername($0, $1, $2) }) else {
            return nil
        }
        return (near, far)
    }
}
