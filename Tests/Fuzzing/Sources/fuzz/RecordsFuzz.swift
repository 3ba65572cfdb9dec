import Glibc

@testable import Networking

/// Records of TLS 1.3 as a peer with the right keys may send them. The input says what the peer does: the cipher suite, then a letter a
/// step, each with its arguments. What is read is what was sealed as data, in that order, and nothing of what was tampered with.
struct RecordsFuzz {
    private var input: UnsafeBufferPointer<UInt8>.SubSequence
    private let records: UnsafeMutablePointer<TLSRecords>
    private let peer: UnsafeMutablePointer<TLSDirection>
    private let port: UnsafeMutablePointer<SocketPort>
    private let pool = BufferPool(capacity: 4 * 16_406)
    private let descriptors: (own: Int32, peer: Int32)

    /// Sealed and not yet sent.
    private var wire: [UInt8] = []
    /// All that was sealed as data; how much of it certainly arrives, as what came before was in order; and what was read.
    private var sealed: [UInt8] = []
    private var certain = 0
    private var read: [UInt8] = []
    private var isInOrder = true
    private var keyUpdates = 0
    private var outcome: TLSRecords.Outcome?

    static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let first = bytes.first else { return }
        var fuzz = RecordsFuzz(bytes.dropFirst(), suite: first)
        fuzz.play()
        fuzz.end()
    }

    private init(_ input: UnsafeBufferPointer<UInt8>.SubSequence, suite: UInt8) {
        self.input = input
        let suites = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]
        let suite = suites[Int(suite % 3)]
        let length = suite.hasSuffix("384") ? 48 : 32
        let secrets = TLSSecrets(
            client: [UInt8](repeating: 1, count: length), server: [UInt8](repeating: 2, count: length))
        records = .allocate(capacity: 1)
        records.initialize(to: TLSRecords(suite: suite, secrets: secrets, isServer: false, pool: pool)!)
        peer = .allocate(capacity: 1)
        peer.initialize(to: TLSDirection(suite: suite, secret: secrets.server, seals: true)!)
        var ends: [Int32] = [0, 0]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        descriptors = (ends[0], ends[1])
        port = .allocate(capacity: 1)
        port.initialize(to: SocketPort(descriptor: ends[0]))
    }

    private mutating func byte() -> Int { Int(input.popFirst() ?? 0) }

    private mutating func number() -> Int { byte() << 8 | byte() }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = Array(input.prefix(count))
        input = input.dropFirst(count)
        return taken
    }

    private mutating func play() {
        // So much that no input of libFuzzer's takes long.
        var steps = 0
        while !input.isEmpty, steps < 2000, sealed.count < 1_000_000 {
            steps += 1
            switch byte() {
            // Data, of a length, with padding.
            case 0x64:
                let count = number() % (TLSDirection.mostContent + 1)
                let padding = min(byte(), TLSDirection.mostSealed - TLSDirection.tagSize - 1 - count)
                let content = (0..<count).map { UInt8(truncatingIfNeeded: sealed.count + $0) }
                // Padding lies behind the type, which `seal` writes last: a record with it is one whose type is zero.
                if padding == 0 {
                    seal(content, TLSContent.data)
                } else {
                    seal(content + [TLSContent.data] + [UInt8](repeating: 0, count: padding - 1), 0)
                }
                note(content)
            // A record of any type, with bytes of the input.
            case 0x74:
                var (type, content) = (UInt8(byte()), bytes(byte()))
                seal(content, type)
                // Of type zero: the last byte that is not is the type.
                while type == 0, let last = content.popLast() { type = last }
                if type == TLSContent.data { note(content) } else { isInOrder = false }
            // New keys, a thousand times in a row at most.
            case 0x6B:
                seal([24, 0, 0, 1, UInt8(byte() & 1)], TLSContent.handshake)
                peer.pointee.update()
                keyUpdates += 1
                if keyUpdates > 1000 { isInOrder = false }
            // What is no record.
            case 0x72:
                let raw = bytes(byte())
                wire += raw
                if !raw.isEmpty { isInOrder = false }
            // A bit of what was sealed last is another.
            case 0x66:
                let place = wire.count - 1 - number()
                if wire.indices.contains(place) {
                    wire[place] ^= 1 << UInt8(byte() & 7)
                    isInOrder = false
                    certain = min(certain, read.count)
                }
            // As many bytes as there are of it are sent.
            case 0x73: send(number())
            case 0x6F: _ = receive(number())
            case 0x75:
                guard records.pointee.owesUpdate else { break }
                var output = [UInt8](repeating: 0, count: TLSRecords.updateSize)
                precondition(records.pointee.sealUpdate(into: &output) == output.count)
            default: break
            }
        }
    }

    private mutating func seal(_ content: [UInt8], _ type: UInt8) {
        var output = [UInt8](repeating: 0, count: content.count + TLSDirection.overhead)
        precondition(peer.pointee.seal(content, content.count, type: type, into: &output) == output.count)
        wire += output
    }

    /// A record of data was sealed. Empty ones may be too many.
    private mutating func note(_ content: [UInt8]) {
        if content.isEmpty { isInOrder = false }
        sealed += content
        if isInOrder { certain = sealed.count }
        keyUpdates = 0
    }

    private mutating func send(_ count: Int) {
        let sent = Glibc.send(descriptors.peer, wire, min(count, wire.count), Int32(MSG_NOSIGNAL))
        if sent > 0 { wire.removeFirst(sent) }
    }

    /// One call; returns whether there was something.
    private mutating func receive(_ capacity: Int) -> Bool {
        guard outcome == nil, capacity > 0 else { return false }
        // Exactly as much, so that the sanitizer sees a byte too many.
        let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        defer { buffer.deallocate() }
        let (count, outcome) = records.pointee.read(port, into: buffer, capacity: capacity)
        self.outcome = outcome
        precondition(count <= capacity)
        precondition(count > 0 || (count == 0 && outcome != nil) || (count == -1 && errno == EAGAIN))
        guard count > 0 else {
            precondition(outcome != nil || !records.pointee.hasInput, "there is more, and nobody is told")
            return false
        }
        read += UnsafeBufferPointer(start: buffer, count: count)
        return true
    }

    /// All that is on its way arrives.
    private mutating func end() {
        while outcome == nil {
            let before = wire.count
            send(wire.count)
            while receive(20_000) {}
            if wire.isEmpty || wire.count == before { break }
        }
        precondition(sealed.starts(with: read), "what is read is not what was sealed")
        precondition(read.count >= certain, "\(read.count) of \(certain) bytes arrived")
        precondition(!isInOrder || outcome == nil, "all was in order: \(outcome!)")
        records.pointee.free()
        peer.pointee.free()
        precondition(pool.lent == 0, "a buffer is not given back")
        records.deinitialize(count: 1).deallocate()
        peer.deinitialize(count: 1).deallocate()
        port.deinitialize(count: 1).deallocate()
        close(descriptors.own)
        close(descriptors.peer)
    }
}
