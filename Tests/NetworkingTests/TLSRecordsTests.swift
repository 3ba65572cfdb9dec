import COpenSSL
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Networking

/// Records by themselves: what RFC 8446 says of them, and what a peer that keeps to none of it gets.
@Suite struct TLSRecordsTests {
    private static let suite = "TLS_AES_128_GCM_SHA256"

    private func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test("Keys are those of RFC 8448, section 3")
    func keys() {
        let client = bytes("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5")
        #expect(
            TLSSecrets.expand(client, "key", 16, EVP_sha256()) == bytes("17422dda596ed5d9acd890e3c63f5051"))
        #expect(TLSSecrets.expand(client, "iv", 12, EVP_sha256()) == bytes("5b78923dee08579033e523d9"))
        let server = bytes("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643")
        #expect(
            TLSSecrets.expand(server, "key", 16, EVP_sha256()) == bytes("9f02283b6c9c07efc26bb9f2ac92e356"))
        #expect(TLSSecrets.expand(server, "iv", 12, EVP_sha256()) == bytes("cf782b88dd83549aadf1e984"))
    }

    @Test("A record is sealed as RFC 8448, section 3, has it")
    func record() throws {
        // The client's 50 bytes of application data.
        let secret = bytes("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5")
        var direction = try #require(TLSDirection(suite: Self.suite, secret: secret, seals: true))
        defer { direction.free() }
        var sealed = [UInt8](repeating: 0, count: 72)
        #expect(direction.seal(Array(0..<50), 50, type: TLSContent.data, into: &sealed) == 72)
        let wanted = """
            17 03 03 00 43 a2 3f 70 54 b6 2c 94 d0 af fa fe 82 28 ba 55 cb ef ac ea 42 f9 14 aa 66 bc ab 3f 2b 98 19 a8
            a5 b4 6b 39 5b d5 4a 9a 20 44 1e 2b 62 97 4e 1f 5a 62 92 a2 97 70 14 bd 1e 3d ea e6 3a ee bb 21 69 49 15 e4
            """
        #expect(sealed == bytes(wanted))
    }

    /// Reads what a peer with the same secrets has sealed.
    private final class Reader {
        private let descriptors: (Int32, Int32)
        private let port: UnsafeMutablePointer<Networking.SocketPort>
        let pool: BufferPool
        private var records: TLSRecords
        private var peer: TLSRecords
        private(set) var outcome: TLSRecords.Outcome?

        init(isServer: Bool = false, pool: BufferPool = BufferPool(capacity: 131_072)) throws {
            var pair: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
            descriptors = (pair[0], pair[1])
            var size: Int32 = 4_000_000
            setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, 4)
            port = .allocate(capacity: 1)
            port.initialize(to: Networking.SocketPort(descriptor: pair[0]))
            self.pool = pool
            let secrets = TLSSecrets(
                client: [UInt8](repeating: 1, count: 32), server: [UInt8](repeating: 2, count: 32))
            records = try #require(
                TLSRecords(suite: TLSRecordsTests.suite, secrets: secrets, isServer: isServer, pool: pool))
            peer = try #require(
                TLSRecords(suite: TLSRecordsTests.suite, secrets: secrets, isServer: !isServer, pool: pool))
        }

        deinit {
            records.free()
            peer.free()
            port.deallocate()
            close(descriptors.0)
            close(descriptors.1)
        }

        func send(_ bytes: [UInt8]) {
            #expect(Glibc.send(descriptors.1, bytes, bytes.count, 0) == bytes.count)
        }

        func sealed(_ content: [UInt8], type: UInt8 = TLSContent.data) -> [UInt8] {
            var output = [UInt8](repeating: 0, count: content.count + TLSDirection.overhead)
            #expect(peer.seal(content, content.count, type: type, into: &output) == output.count)
            return output
        }

        func seal(_ content: [UInt8], type: UInt8 = TLSContent.data) { send(sealed(content, type: type)) }

        func update() {
            var output = [UInt8](repeating: 0, count: TLSRecords.updateSize)
            #expect(peer.sealUpdate(into: &output) == output.count)
            send(output)
        }

        /// One call.
        func read(_ capacity: Int = 65_600) -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: capacity)
            let (count, outcome) = records.read(port, into: &buffer, capacity: capacity)
            if let outcome { self.outcome = outcome }
            return Array(buffer.prefix(max(0, count)))
        }

        var hasInput: Bool { records.hasInput }
        var owesUpdate: Bool { records.owesUpdate }
    }

    @Test("Several records are read at once, padded ones without their padding")
    func reading() throws {
        let reader = try Reader()
        reader.seal([1, 2, 3])
        reader.seal([4] + [UInt8](repeating: 0, count: 3))
        // Padding is zeros behind the type: here the sealed type is 0, and the data's own comes before it.
        reader.seal([5, TLSContent.data, 0, 0], type: 0)
        #expect(reader.read() == [1, 2, 3, 4, 0, 0, 0, 5])
        #expect(!reader.hasInput && reader.pool.lent == 0)
    }

    @Test("What breaks the rules ends the stream with the reason and its alert, after the bytes before it")
    func broken() throws {
        let good = [UInt8](repeating: 9, count: 20)
        let cases: [(String, UInt8?, (Reader) -> Void)] = [
            ("unexpected record of type 71", 10, { $0.send([71]) }),
            ("unexpected record of type 20", 10, { $0.send([20, 3, 3, 0, 1, 1]) }),
            ("unexpected record of type 72", 10, { $0.send(Array("HTTP/".utf8) + good) }),
            ("a record of 16641 bytes, more than 16640", 22, { $0.send([23, 3, 3, 0x41, 1]) }),
            ("a record of 16 bytes, too few to be sealed", 20, { $0.send([23, 3, 3, 0, 16] + good) }),
            ("decryption failed or bad record mac", 20, { $0.send([23, 3, 3, 0, 20] + good) }),
            ("unexpected content of type 0", 10, { $0.seal([0, 0], type: 0) }),
            ("unexpected content of type 20", 10, { $0.seal([1], type: 20) }),
            ("an alert of 1 bytes, expected 2", 50, { $0.seal([1], type: TLSContent.alert) }),
            ("tlsv13 alert certificate required", nil, { $0.seal([2, 116], type: TLSContent.alert) }),
            ("tlsv1 alert internal error", nil, { $0.seal([2, 80], type: TLSContent.alert) }),
            ("the peer's alert 255", nil, { $0.seal([2, 255], type: TLSContent.alert) }),
            ("an empty handshake record", 10, { $0.seal([], type: TLSContent.handshake) }),
            ("unexpected handshake message of type 1", 10, { $0.seal([1, 0, 0, 9], type: TLSContent.handshake) }),
            ("a KeyUpdate of 2 bytes, expected 1", 50, { $0.seal([24, 0, 0, 2], type: TLSContent.handshake) }),
            (
                "a KeyUpdate that requests 2, expected 0 or 1", 47,
                { $0.seal([24, 0, 0, 1, 2], type: TLSContent.handshake) }
            ),
            (
                "a KeyUpdate that is not the last of its record", 10,
                { $0.seal([24, 0, 0, 1, 0, 4], type: TLSContent.handshake) }
            ),
            (
                "data amid a handshake message", 10,
                {
                    $0.seal([4, 0], type: TLSContent.handshake)
                    $0.seal([1])
                }
            ),
            ("33 records in a row without data", 10, { reader in for _ in 0..<33 { reader.seal([]) } }),
            (
                "1001 records in a row without data", 10,
                { reader in for _ in 0...1000 { reader.seal([4, 0, 0, 1, 9], type: TLSContent.handshake) } }
            ),
        ]
        for (text, alert, send) in cases {
            let reader = try Reader()
            reader.seal([1, 2, 3])
            send(reader)
            #expect(reader.read() == [1, 2, 3], "\(text)")
            #expect(reader.hasInput, "\(text)")
            #expect(reader.read().isEmpty && reader.outcome == .broken(text, alert: alert), "\(reader.outcome as Any)")
            // It stays so.
            #expect(reader.read().isEmpty && reader.outcome == .broken(text, alert: alert))
        }
    }

    @Test("A record of nothing but padding that does not fit the reader's buffer does not stop it")
    func padding() throws {
        let reader = try Reader()
        // A data record of no bytes: its type, and padding up to a whole record.
        reader.seal([TLSContent.data] + [UInt8](repeating: 0, count: 16_000), type: 0)
        reader.seal([1, 2])
        #expect(reader.read(1000) == [1, 2])
        #expect(!reader.hasInput && reader.outcome == nil)
    }

    @Test("More than 16,384 bytes in a record are too many, though they fit with no padding")
    func tooMuch() throws {
        let reader = try Reader()
        reader.seal([UInt8](repeating: 1, count: 16_385))
        #expect(reader.read().isEmpty)
        #expect(
            reader.outcome == .broken("a record with 16385 bytes in it, more than 16384", alert: 22))
    }

    @Test("Tickets are a server's to send, in pieces too, and are passed over; a server takes none")
    func tickets() throws {
        let ticket: [UInt8] = [4, 0, 1, 0] + [UInt8](repeating: 7, count: 256)
        let reader = try Reader()
        for piece in [ticket[0..<2], ticket[2..<100], ticket[100...] + ticket[...]] {
            reader.seal(Array(piece), type: TLSContent.handshake)
        }
        reader.seal([1])
        #expect(reader.read() == [1] && reader.outcome == nil)
        let server = try Reader(isServer: true)
        server.seal(ticket, type: TLSContent.handshake)
        #expect(server.read().isEmpty)
        #expect(server.outcome == .broken("unexpected handshake message of type 4", alert: 10))
    }

    @Test("After a KeyUpdate the next key opens, and one is owed where it was asked for")
    func update() throws {
        let reader = try Reader()
        for round in 0..<5 {
            reader.seal([UInt8(round)])
            reader.update()
            reader.seal([UInt8(round), 1])
            #expect(reader.read() == [UInt8(round), UInt8(round), 1])
        }
        #expect(!reader.owesUpdate)
        reader.seal([24, 0, 0, 1, 1], type: TLSContent.handshake)
        #expect(reader.read().isEmpty && reader.owesUpdate && reader.outcome == nil)
        // The old key is of no use any more.
        reader.seal([1])
        #expect(reader.read().isEmpty)
        #expect(reader.outcome == .broken("decryption failed or bad record mac", alert: 20))
    }

    @Test("However it comes and is read, it is the same bytes, and buffers go back", arguments: [131_072, 17_408])
    func anySizes(_ capacity: Int) throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        var random = SeededRandom(seed)
        let pool = BufferPool(capacity: capacity)
        let reader = try Reader(pool: pool)
        for _ in 0..<40 {
            var wanted: [UInt8] = []
            var wire: [UInt8] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let most = Bool.random(using: &random) ? 16_384 : 300
                let content = (0..<Int.random(in: 0...most, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                wanted += content
                wire += reader.sealed(content)
            }
            var got: [UInt8] = []
            var sent = 0
            while sent < wire.count || got.count < wanted.count {
                let piece = min(wire.count - sent, Int.random(in: 1...40_000, using: &random))
                if piece > 0 { reader.send(Array(wire[sent..<(sent + piece)])) }
                sent += piece
                repeat {
                    let capacity = Bool.random(using: &random) ? Int.random(in: 1...200, using: &random) : 65_536
                    got += reader.read(capacity)
                } while reader.hasInput
                try #require(reader.outcome == nil, "seed \(seed): \(reader.outcome as Any)")
                // What waits for more is in no buffer of the pool.
                #expect(pool.lent == 0, "seed \(seed)")
            }
            #expect(got == wanted, "seed \(seed)")
        }
    }
}

extension TLSSecrets {
    init(client: [UInt8], server: [UInt8]) {
        self.init()
        func line(_ name: String, _ secret: [UInt8]) -> String {
            "\(name) 00 " + secret.map { String(format: "%02x", $0) }.joined()
        }
        take(line("CLIENT_TRAFFIC_SECRET_0", client))
        take(line("SERVER_TRAFFIC_SECRET_0", server))
    }
}
