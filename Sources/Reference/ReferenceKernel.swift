import COpenSSL
import Glibc

/// A fixed piece of work, made of what a push is made of on the client's side: payloads are copied and hashed, a table beyond
/// the second-level cache is touched, a TLS record's worth is sealed with AES-256-GCM, and the record goes through a pair of
/// TCP sockets on the loopback interface. Its CPU time says how fast this machine is at this moment; the cost of a push is
/// divided by it.
///
/// Frozen: results made with one version mean nothing beside another's, so whatever changes the work changes `version`.
///
/// About 19 us a record on a 2-core virtual machine (5.5 filling, 4.5 sealing, 8.7 passing); 8.1 MB of memory, all of it
/// taken before the first record.
public final class ReferenceKernel {
    /// Named in every baseline.
    public static let version = "record/1"

    /// Why it cannot work, one line.
    public struct Failure: Error, CustomStringConvertible, Sendable {
        public let description: String
    }

    /// Payloads of a record: 48 of 330 bytes, one every 341.
    private static let payloads = 48
    private static let payloadSize = 330
    private static let payloadStep = 341
    private static let recordSize = 16_384
    /// One payload in 8 touches the table: more of it measures where the pages of the table happen to lie.
    private static let touchEvery = 8
    /// Entries of 8 bytes: 8 MB.
    private static let tableEntries = 1 << 20
    /// Payloads there are to copy, one every 512 bytes.
    private static let sources = 128
    private static let sourceStep = 512
    private static let tagSize = 16

    private let source: UnsafeMutablePointer<UInt8>
    private let record: UnsafeMutablePointer<UInt8>
    private let sealed: UnsafeMutablePointer<UInt8>
    private let table: UnsafeMutablePointer<UInt64>
    private let cipher: OpaquePointer
    private let sockets: SocketPair
    /// 12 bytes, the first 8 of them count.
    private var nonce: (UInt64, UInt32) = (0, 0)
    private var state: UInt64 = 1

    /// - Throws: when OpenSSL has no AES-256-GCM, or the loopback interface no sockets.
    public init() throws(Failure) {
        guard let cipher = EVP_CIPHER_CTX_new() else { throw Failure(description: "OpenSSL has no cipher context") }
        let key = [UInt8](repeating: 7, count: 32)
        guard EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), nil, key, nil) == 1 else {
            EVP_CIPHER_CTX_free(cipher)
            throw Failure(description: "OpenSSL has no AES-256-GCM")
        }
        guard let sockets = SocketPair() else {
            EVP_CIPHER_CTX_free(cipher)
            throw Failure(description: "no TCP sockets on 127.0.0.1: \(String(cString: strerror(errno)))")
        }
        self.cipher = cipher
        self.sockets = sockets
        source = .allocate(capacity: Self.sources * Self.sourceStep)
        for index in 0..<(Self.sources * Self.sourceStep) {
            (source + index).initialize(to: UInt8(truncatingIfNeeded: index &* 131 &+ index >> 7))
        }
        record = .allocate(capacity: Self.recordSize)
        record.initialize(repeating: 0, count: Self.recordSize)
        sealed = .allocate(capacity: Self.recordSize + Self.tagSize)
        sealed.initialize(repeating: 0, count: Self.recordSize + Self.tagSize)
        table = .allocate(capacity: Self.tableEntries)
        for index in 0..<Self.tableEntries { (table + index).initialize(to: UInt64(index)) }
    }

    deinit {
        EVP_CIPHER_CTX_free(cipher)
        source.deallocate()
        record.deallocate()
        sealed.deallocate()
        table.deallocate()
    }

    /// Does the work of so many records, at least 1.
    ///
    /// - Returns: the calling thread's CPU time of one, ns.
    public func measure(records: Int) -> Double {
        let begin = Self.threadTime()
        for _ in 0..<records {
            fill()
            seal()
            sockets.pass(sealed, count: Self.recordSize + Self.tagSize)
        }
        return Double(Self.threadTime() - begin) / Double(records)
    }

    /// What the work so far came to, so that two kernels of one version can be held against each other.
    var checksum: UInt64 {
        var sum = state
        for index in 0..<(Self.recordSize + Self.tagSize) { sum = (sum ^ UInt64(sealed[index])) &* 0x100_0000_01B3 }
        return sum
    }

    private func fill() {
        var place = record
        for payload in 0..<Self.payloads {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            memcpy(place, source + Int(state >> 57) * Self.sourceStep, Self.payloadSize)
            var hash = state
            let words = UnsafeRawPointer(place)
            for word in 0..<(Self.payloadSize / 8) {
                hash = (hash ^ words.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 29
            }
            if payload % Self.touchEvery == 0 { table[Int(truncatingIfNeeded: hash >> 44)] &+= hash }
            place += Self.payloadStep
        }
    }

    private func seal() {
        nonce.0 &+= 1
        withUnsafeBytes(of: &nonce) {
            _ = EVP_EncryptInit_ex(cipher, nil, nil, nil, $0.bindMemory(to: UInt8.self).baseAddress)
        }
        var length: Int32 = 0
        EVP_EncryptUpdate(cipher, sealed, &length, record, Int32(Self.recordSize))
        EVP_EncryptFinal_ex(cipher, sealed + Self.recordSize, &length)
        EVP_CIPHER_CTX_ctrl(cipher, Int32(EVP_CTRL_AEAD_GET_TAG), Int32(Self.tagSize), sealed + Self.recordSize)
    }

    private static func threadTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
