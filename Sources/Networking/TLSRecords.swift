import COpenSSL
import Glibc

/// A connection's TLS 1.3 records (RFC 8446, section 5), once OpenSSL has shaken hands: several of them are opened of one recv(2), and
/// sealed for one send(2), without what OpenSSL copies and looks up for each; nor does a connection hold an `SSL` of 17 KB any more.
struct TLSRecords {
    private var sealing: TLSDirection
    private var opening: TLSDirection
    /// Of the thread, or the connection's own.
    private let pool: BufferPool
    private let isServer: Bool
    /// What has been received and not read yet: in a lent buffer while there is more to be read at once, else in a block of its own.
    private var input: UnsafeMutablePointer<UInt8>?
    private var isLent = false
    /// Of `input`: what was opened and did not fit the reader's buffer, and behind it what is still sealed.
    private var opened = 0..<0
    private var start = 0
    private var end = 0
    /// How reading goes on when all that came before is read.
    private var outcome: Outcome?
    /// The fatal alert by which the peer ended the connection (section 6.2).
    private(set) var peerAlert: UInt8?
    /// Records without bytes, and those of handshake messages, since the last one that held bytes for the reader.
    private var empty = 0
    private var messages = 0
    /// Of a handshake message: bytes still to come, and its first four, which may come in pieces.
    private var messageLeft = 0
    private var messageHead: [UInt8] = []
    /// A KeyUpdate has to be sent before anything else is (section 4.6.3).
    private(set) var owesUpdate = false

    enum Outcome: Equatable {
        case endOfStream
        /// What is wrong, and the alert that says so (section 6); nil where the peer's own alert said it.
        case broken(String, alert: UInt8?)
    }

    /// As many as OpenSSL allows.
    private static let mostEmpty = 32
    /// A server's tickets, and keys that change while nothing is sent.
    private static let mostMessages = 1000
    /// Four records of a peer that writes as much as it can into each.
    private static let readSize = 4 * (TLSDirection.mostContent + TLSDirection.overhead)

    /// - Parameters:
    ///   - pool: buffers of at least one whole record.
    ///   - suite: OpenSSL's name.
    /// - Returns: nil: not a suite that is known here.
    init?(suite: String, secrets: TLSSecrets, isServer: Bool, pool: BufferPool) {
        let (own, other) = isServer ? (secrets.server, secrets.client) : (secrets.client, secrets.server)
        guard let sealing = TLSDirection(suite: suite, secret: own, seals: true) else { return nil }
        guard let opening = TLSDirection(suite: suite, secret: other, seals: false) else {
            sealing.free()
            return nil
        }
        (self.sealing, self.opening, self.pool, self.isServer) = (sealing, opening, pool, isServer)
    }

    mutating func free() {
        giveBack()
        sealing.free()
        opening.free()
    }

    // MARK: Sealing

    /// Writes a record of at most `mostContent` bytes; returns its length.
    @inline(__always)
    mutating func seal(
        _ content: UnsafePointer<UInt8>, _ count: Int, type: UInt8 = TLSContent.data,
        into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        sealing.seal(content, count, type: type, into: output)
    }

    /// Bytes of `sealUpdate`.
    static let updateSize = 5 + TLSDirection.overhead

    /// Writes the KeyUpdate that is owed, which asks for none; returns its length.
    mutating func sealUpdate(into output: UnsafeMutablePointer<UInt8>) -> Int {
        let length = sealing.seal([24, 0, 0, 1, 0], 5, type: TLSContent.handshake, into: output)
        sealing.update()
        owesUpdate = false
        return length
    }

    // MARK: Opening

    /// There is more to read that epoll does not know of.
    var hasInput: Bool { !opened.isEmpty || outcome != nil || isWhole }

    /// A record, or enough of one to see that it is none, is there.
    private var isWhole: Bool {
        guard let input, end > start else { return false }
        if input[start] != TLSContent.data { return true }
        guard end - start >= TLSDirection.headerSize else { return false }
        let length = Int(input[start + 3]) << 8 | Int(input[start + 4])
        return length > TLSDirection.mostSealed || end - start >= TLSDirection.headerSize + length
    }

    /// Reads up to `capacity` bytes of as many records as are there.
    ///
    /// - Returns: bytes; 0: none are there (`errno` EAGAIN), or `outcome` says why there will be none; -1: recv(2) failed.
    mutating func read(
        _ port: UnsafeMutablePointer<SocketPort>, into buffer: UnsafeMutablePointer<UInt8>, capacity: Int
    ) -> (count: Int, outcome: Outcome?) {
        if !opened.isEmpty { return (takeOpened(buffer, capacity), nil) }
        // No more than one full record at a time, or as much of small ones: the reader then finds them in the processor's first cache.
        let capacity = min(capacity, TLSDirection.mostSealed)
        var count = open(into: buffer, capacity)
        if count == 0, outcome == nil {
            let received = receive(port)
            guard received > 0 else {
                let code = errno
                keep()
                errno = code
                return received == 0 ? (0, .endOfStream) : (-1, nil)
            }
            count = open(into: buffer, capacity)
        }
        keep()
        if count == 0, outcome == nil { errno = EAGAIN }
        return count > 0 ? (count, nil) : (outcome == nil ? -1 : 0, outcome)
    }

    private mutating func takeOpened(_ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int {
        let count = min(capacity, opened.count)
        buffer.update(from: input! + opened.lowerBound, count: count)
        opened = (opened.lowerBound + count)..<opened.upperBound
        keep()
        return count
    }

    /// As recv(2), behind what is there of a record.
    private mutating func receive(_ port: UnsafeMutablePointer<SocketPort>) -> Int {
        let buffer: UnsafeMutablePointer<UInt8>
        if isLent, let input {
            buffer = input
            if start > 0 { buffer.update(from: input + start, count: end - start) }
        } else {
            buffer = pool.take()
            if let input {
                buffer.update(from: input + start, count: end - start)
                input.deallocate()
            }
        }
        input = buffer
        isLent = true
        (start, end) = (0, end - start)
        let received = port.pointee.receive(buffer + end, min(Self.readSize, pool.capacity) - end)
        if received > 0 { end += received }
        return received
    }

    /// What is not a whole record yet leaves the lent buffer, which other connections want.
    private mutating func keep() {
        guard isLent, let input, opened.isEmpty, !isWhole else { return }
        let left = end - start
        if left == 0 {
            giveBack()
            return
        }
        // As little as the record needs, so that many slow connections do not hold a buffer each.
        let block = UnsafeMutablePointer<UInt8>.allocate(capacity: left)
        block.update(from: input + start, count: left)
        pool.giveBack(input)
        self.input = block
        isLent = false
        (start, end) = (0, left)
    }

    private mutating func giveBack() {
        if let input { isLent ? pool.giveBack(input) : input.deallocate() }
        input = nil
        isLent = false
        (start, end) = (0, 0)
    }

    /// Opens what is there of whole records, as far as the content fits.
    private mutating func open(into buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int {
        var filled = 0
        while outcome == nil, isWhole, let input {
            let record = input + start
            guard record[0] == TLSContent.data else {
                outcome = .broken("unexpected record of type \(record[0])", alert: 10)
                break
            }
            let sealed = Int(record[3]) << 8 | Int(record[4])
            guard sealed <= TLSDirection.mostSealed else {
                outcome = .broken("a record of \(sealed) bytes, more than \(TLSDirection.mostSealed)", alert: 22)
                break
            }
            guard sealed > TLSDirection.tagSize else {
                outcome = .broken("a record of \(sealed) bytes, too few to be sealed", alert: 20)
                break
            }
            let fits = sealed - TLSDirection.tagSize <= capacity - filled
            if !fits, filled > 0 { break }
            let target = fits ? buffer + filled : record + TLSDirection.headerSize
            start += TLSDirection.headerSize + sealed
            guard let (type, count) = opening.open(record, sealed, into: target) else {
                outcome = .broken("decryption failed or bad record mac", alert: 20)
                break
            }
            guard count <= TLSDirection.mostContent else {
                outcome = .broken(
                    "a record with \(count) bytes in it, more than \(TLSDirection.mostContent)", alert: 22)
                break
            }
            switch type {
            case TLSContent.data:
                if messageLeft > 0 || !messageHead.isEmpty {
                    outcome = .broken("data amid a handshake message", alert: 10)
                } else if fits {
                    filled += count
                } else if count > 0 {
                    (empty, messages) = (0, 0)
                    let first = start - sealed
                    opened = first..<(first + count)
                    return takeOpened(buffer, capacity)
                }
                if count > 0 { (empty, messages) = (0, 0) } else { empty += 1 }
            case TLSContent.alert:
                take(alert: target, count)
                empty += 1
            case TLSContent.handshake:
                take(handshake: target, count)
                messages += 1
            default: outcome = .broken("unexpected content of type \(type)", alert: 10)
            }
            if outcome == nil, empty > Self.mostEmpty || messages > Self.mostMessages {
                outcome = .broken("\(max(empty, messages)) records in a row without data", alert: 10)
            }
        }
        return filled
    }

    private mutating func take(alert: UnsafePointer<UInt8>, _ count: Int) {
        guard count == 2 else {
            outcome = .broken("an alert of \(count) bytes, expected 2", alert: 50)
            return
        }
        switch alert[1] {
        case 0: outcome = .endOfStream
        // user_canceled: close_notify follows.
        case 90: break
        default:
            // Its names are loaded with the first SSL_CTX otherwise.
            _ = OPENSSL_init_ssl(UInt64(OPENSSL_INIT_LOAD_SSL_STRINGS), nil)
            let text = ERR_reason_error_string(pushload_alert_error(Int32(alert[1]))).map { String(cString: $0) }
            outcome = .broken(text ?? "the peer's alert \(alert[1])", alert: nil)
            peerAlert = alert[1]
        }
    }

    /// After the handshake a server may send NewSessionTicket, which is of no use here, and both may send KeyUpdate.
    private mutating func take(handshake bytes: UnsafePointer<UInt8>, _ count: Int) {
        guard count > 0 else {
            outcome = .broken("an empty handshake record", alert: 10)
            return
        }
        var place = 0
        while place < count, outcome == nil {
            if messageLeft > 0 {
                let taken = min(messageLeft, count - place)
                // A KeyUpdate's only byte.
                if messageHead.first == 24 {
                    update(bytes[place], isLast: place + 1 == count)
                }
                messageLeft -= taken
                place += taken
                if messageLeft == 0 { messageHead = [] }
                continue
            }
            messageHead.append(bytes[place])
            place += 1
            guard messageHead.count == 4 else { continue }
            messageLeft = Int(messageHead[1]) << 16 | Int(messageHead[2]) << 8 | Int(messageHead[3])
            switch messageHead[0] {
            case 4 where messageLeft > 0 && !isServer, 24 where messageLeft == 1: break
            case 24: outcome = .broken("a KeyUpdate of \(messageLeft) bytes, expected 1", alert: 50)
            default: outcome = .broken("unexpected handshake message of type \(messageHead[0])", alert: 10)
            }
        }
    }

    private mutating func update(_ request: UInt8, isLast: Bool) {
        guard request <= 1 else {
            outcome = .broken("a KeyUpdate that requests \(request), expected 0 or 1", alert: 47)
            return
        }
        // What follows is sealed by the new key, and cannot be in this record.
        guard isLast else {
            outcome = .broken("a KeyUpdate that is not the last of its record", alert: 10)
            return
        }
        opening.update()
        owesUpdate = owesUpdate || request == 1
    }
}
