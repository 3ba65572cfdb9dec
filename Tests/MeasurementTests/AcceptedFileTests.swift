import Foundation
import Testing

@testable import Measurement

@Suite final class AcceptedFileTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("accepted-\(UUID())").path

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func write(_ pushes: some Sequence<UInt64>, capacity: UInt64) throws -> (DeliveryLedger, bytes: Int) {
        let ledger = try #require(DeliveryLedger(capacity: capacity))
        for push in pushes { ledger.mark(push) }
        try AcceptedFile.write(ledger, run: 5, to: path)
        return (ledger, try Data(contentsOf: URL(fileURLWithPath: path)).count)
    }

    private func problem(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return ""
    }

    @Test("A million pushes of which none is missing take a few bytes, and some missing ones a few more")
    func small() throws {
        let all = stride(from: UInt64(3), to: 4_000_000, by: 4)
        #expect(try write(all, capacity: 4_000_000).bytes <= 64)
        let read = try #require(DeliveryLedger(capacity: 4_000_000))
        #expect(try AcceptedFile.read(path, run: 5, into: read) == 1_000_000)
        #expect(read.delivered == 1_000_000 && read.contains(3) && read.contains(3_999_999) && !read.contains(4))
        #expect(try write(all.filter { $0 % 400_003 != 3 }, capacity: 4_000_000).bytes <= 64 + 3 * 8)
    }

    @Test("Any pushes of any worker are read as they were written, in at most 3 bytes each")
    func model() throws {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random(_ below: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % below
        }
        for round in 0..<60 {
            let workers = [1, 2, 3, 1000][round % 4] as UInt64
            let worker = random(workers)
            let kept = [1, 2, 50, 99, 100][round % 5] as UInt64
            var pushes: Set<UInt64> = []
            for number in 0..<random(3000) where random(100) < kept { pushes.insert(worker + number * workers) }
            let (_, bytes) = try write(pushes, capacity: 3_000_000)
            #expect(
                bytes <= 64 + 3 * pushes.count, "seed \(seed), round \(round): \(pushes.count) pushes, \(bytes) bytes")
            let read = try #require(DeliveryLedger(capacity: 3_000_000))
            #expect(try AcceptedFile.read(path, run: 5, into: read) == UInt64(pushes.count), "seed \(seed)")
            var found: Set<UInt64> = []
            read.forEach { found.insert($0) }
            #expect(found == pushes, "seed \(seed), round \(round)")
        }
    }

    @Test("A file that is cut short or has another bit anywhere is refused, and so is one with more behind")
    func damage() throws {
        _ = try write((0..<500 as Range<UInt64>).filter { $0 * $0 % 7 != 2 }, capacity: 500)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        func refuses(_ bytes: Data) throws -> Bool {
            try bytes.write(to: URL(fileURLWithPath: path))
            let ledger = try #require(DeliveryLedger(capacity: 500))
            return problem { try AcceptedFile.read(path, run: 5, into: ledger) }.hasPrefix(path + ": ")
        }
        for length in 0..<whole.count { #expect(try refuses(whole.prefix(length)), "\(length) bytes") }
        for place in whole.indices {
            var bytes = whole
            bytes[place] ^= UInt8(1 << (place % 8))
            #expect(try refuses(bytes), "byte \(place)")
        }
        #expect(try refuses(whole + Data([0])))
        #expect(try !refuses(whole))
    }

    @Test("Pushes beyond the run's, another worker's, and another run's are refused by name")
    func foreign() throws {
        _ = try write([7, 9, 99], capacity: 100)
        let small = try #require(DeliveryLedger(capacity: 99))
        #expect(
            problem { try AcceptedFile.read(path, run: 5, into: small) }
                == "\(path): has a push beyond the last one of the run, 98")
        let other = try #require(DeliveryLedger(capacity: 100))
        other.mark(9)
        #expect(
            problem { try AcceptedFile.read(path, run: 5, into: other) }
                == "\(path): has push 9, which another worker has too")
        #expect(
            problem { try AcceptedFile.read(path, run: 6, into: other) } == "\(path): accepted pushes of another run")
        try Data("hello, here is something else".utf8).write(to: URL(fileURLWithPath: path))
        #expect(
            problem { try AcceptedFile.read(path, run: 5, into: other) } == "\(path): not a file of accepted pushes")
        #expect(
            problem { try AcceptedFile.read("/nowhere", run: 5, into: other) }
                == "cannot read the file of accepted pushes /nowhere: No such file or directory")
    }

    @Test("Of a worker that had nothing accepted there is a file that says so")
    func none() throws {
        _ = try write([], capacity: 10)
        let ledger = try #require(DeliveryLedger(capacity: 10))
        #expect(try AcceptedFile.read(path, run: 5, into: ledger) == 0 && ledger.delivered == 0)
    }

    @Test("What a few bytes say of billions of pushes takes no more memory and time than the ledger has room for")
    func bounds() throws {
        let file = try BinaryFileWriter("test", path, magic: "PUSHACPT")
        for number in [5, 1 << 40, 2, 3] as [UInt64] { file.put(number) }
        for number in [0, 1 << 40, 1] as [UInt64] { file.put(short: number) }
        try file.finish()
        let ledger = try #require(DeliveryLedger(capacity: 1000))
        let found = try AcceptedFile.read(path, run: 5, below: 1 << 42, into: ledger)
        // 2, 5, … 998 are below 1,000.
        #expect(found == .init(pushes: 1 << 40, beyond: 1 << 40 - 333) && ledger.delivered == 333)
        #expect(ledger.contains(2) && ledger.contains(998) && !ledger.contains(999))
        #expect(
            problem { _ = try AcceptedFile.read(path, run: 5, below: 1 << 41, into: ledger) }
                == "\(path): has a push beyond the last one of the run, \((1 as UInt64) << 41 - 1)")
    }

    @Test("A pipe, a device and a folder are refused, and not waited for")
    func noFile() throws {
        let ledger = try #require(DeliveryLedger(capacity: 10))
        try #require(mkfifo(path, 0o600) == 0)
        for place in [path, "/dev/zero", "/tmp"] {
            #expect(
                problem { try AcceptedFile.read(place, run: 5, into: ledger) }
                    == "\(place): no regular file; expected a file of accepted pushes")
        }
    }
}
