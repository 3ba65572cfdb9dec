import HTTP2
import Networking

/// One client's connection: TLS, reading, and writing whole records. What is not written at once is kept here, and while
/// it is, nothing more is read: a client that does not read its answers cannot make the server grow.
final class MockConnection {
    let token: UInt64
    private let stream: ByteStream
    private let worker: MockWorker
    private var session: MockSession?
    private var unsent: [UInt8] = []
    private var unsentOffset = 0
    private var interest: Readiness
    private(set) var isClosed = false
    private let deadline: UInt64

    init(token: UInt64, stream: ByteStream, worker: MockWorker, now: UInt64) {
        self.token = token
        self.stream = stream
        self.worker = worker
        deadline = now + worker.configuration.handshakeTimeout
        interest = stream.interest
        worker.reactor.add(stream.descriptor, token: token, interest: interest)
    }

    /// - Returns: true when it should be called again though epoll may stay silent.
    func handle(_ readiness: Readiness) -> Bool {
        if isClosed { return false }
        if session == nil {
            switch stream.advance() {
            case .inProgress:
                updateInterest()
                return false
            case .failed:
                MockStatistics.increment(worker.statistics.handshakesFailed)
                worker.log("connection \(token): \(stream.failure?.description ?? "handshake failed")")
                close()
                return false
            case .done:
                session = MockSession(
                    worker, settings: worker.sessionSettings, certificateTopic: stream.peerCertificateUID)
                flush()
            }
        }
        if readiness.contains(.writable) { flush() }
        if isClosed || !unsent.isEmpty { return false }
        return read()
    }

    private func read() -> Bool {
        guard let session else { return false }
        let buffer = worker.readBuffer
        var hasMore = true
        var rounds = 0
        while hasMore, rounds < 16, unsent.isEmpty {
            rounds += 1
            switch stream.read(into: buffer.baseAddress!, capacity: buffer.count) {
            case .bytes(let count):
                let problem = session.receive(UnsafePointer(buffer.baseAddress!), count: count)
                session.keepBorrowed()
                if let problem {
                    worker.log("connection \(token): \(problem)")
                    flush()
                    close()
                    return false
                }
                hasMore = stream.hasBufferedInput
            case .wouldBlock:
                hasMore = false
            case .endOfStream, .failed:
                close()
                return false
            }
        }
        flush()
        return hasMore && !isClosed && unsent.isEmpty
    }

    /// Writes what there is, in whole records as far as possible.
    private func flush() {
        guard let session, !isClosed else { return }
        if !unsent.isEmpty, !writeUnsent() { return }
        let buffer = worker.writeBuffer
        var filled = 0
        var bytes: UnsafePointer<UInt8>?
        while true {
            let count = session.nextOutput(&bytes)
            if count > 0 {
                buffer.baseAddress!.advanced(by: filled).update(from: bytes!, count: count)
                filled += count
                // Room for one more frame of the largest size.
                if buffer.count - filled >= 20_480 { continue }
            }
            if filled > 0 { filled = write(buffer.baseAddress!, filled) }
            if isClosed || !unsent.isEmpty { return }
            if count <= 0 { break }
        }
        if !session.isAlive {
            stream.finish()
            close()
        } else {
            updateInterest()
        }
    }

    /// Writes `count` bytes, keeping what the socket does not take; returns 0.
    private func write(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        var offset = 0
        while offset < count {
            switch stream.write(bytes + offset, count: min(count - offset, 16_384)) {
            case .bytes(let written): offset += written
            case .wouldBlock:
                unsent = Array(UnsafeBufferPointer(start: bytes + offset, count: count - offset))
                unsentOffset = 0
                updateInterest()
                return 0
            case .endOfStream, .failed:
                close()
                return 0
            }
        }
        return 0
    }

    /// - Returns: true when nothing is left.
    private func writeUnsent() -> Bool {
        while unsentOffset < unsent.count {
            let result = unsent.withUnsafeBufferPointer {
                stream.write($0.baseAddress! + unsentOffset, count: min(unsent.count - unsentOffset, 16_384))
            }
            switch result {
            case .bytes(let written): unsentOffset += written
            case .wouldBlock:
                updateInterest()
                return false
            case .endOfStream, .failed:
                close()
                return false
            }
        }
        unsent = []
        unsentOffset = 0
        return true
    }

    private func updateInterest() {
        var wanted = stream.interest
        if !unsent.isEmpty { wanted = .writable }
        if wanted != interest {
            interest = wanted
            worker.reactor.modify(stream.descriptor, token: token, interest: wanted)
        }
    }

    /// Closes a connection that has taken too long to begin.
    func tick(now: UInt64) {
        if session == nil, now > deadline {
            MockStatistics.increment(worker.statistics.handshakesFailed)
            close()
        }
    }

    /// Says that the server goes away, and why, and closes.
    func shutDown() {
        if let session, !isClosed {
            session.submitGoAway(code: .noError, debugData: Array("{\"reason\":\"Shutdown\"}".utf8))
            flush()
            if !isClosed { stream.finish() }
        }
        close()
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        worker.reactor.remove(stream.descriptor)
    }
}
