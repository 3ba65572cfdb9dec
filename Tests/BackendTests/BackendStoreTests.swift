import Foundation
import Testing

@testable import Backend

@Suite struct BackendStoreTests {
    /// A path that is removed with all that SQLite has put beside it.
    private final class Path {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID())").path
        var file: String { folder + "/s.db" }
        init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: folder) }
    }

    private func notification(_ user: String, _ body: String?) -> NewNotification {
        NewNotification(
            user: user, message: "", richType: "img", payload: body.map { Payload(type: "a/b", body: Array($0.utf8)) })
    }

    private func isFound(_ found: BackendStore.Found, _ body: String?, first: Bool) -> Bool {
        guard case .payload(let payload, "img", first) = found else { return false }
        return payload == body.map { Payload(type: "a/b", body: Array($0.utf8)) }
    }

    @Test("What was committed is there again, with its counts, and ids go on; what was not is gone")
    func reopened() throws {
        let path = try Path()
        var counts = BackendCounts()
        do {
            let store = try BackendStore(path: path.file)
            #expect(try store.create(notification("bob", "one")) == 1)
            #expect(try store.create(notification("*", nil)) == 2)
            counts[.created] = 2
            try store.commit(counts)
            #expect(try store.create(notification("bob", "two")) == 3)
        }
        let store = try BackendStore(path: path.file)
        #expect(store.counts == counts && store.counts.requests == 2)
        #expect(isFound(try store.fetch(1, for: "bob"), "one", first: true))
        #expect(isFound(try store.fetch(1, for: "bob"), "one", first: false))
        #expect(isFound(try store.fetch(2, for: "eve"), nil, first: true))
        guard case .forbidden = try store.fetch(1, for: "eve"), case .unknown = try store.fetch(3, for: "bob") else {
            Issue.record("of another user, or never committed")
            return
        }
        #expect(try store.create(notification("bob", "two")) == 3)
    }

    @Test("A payload that several notifications have is kept once; an empty one is one too")
    func shared() throws {
        let store = try BackendStore(path: nil)
        for body in ["one", "one", "two", ""] { _ = try store.create(notification("bob", body)) }
        #expect(try store.database.number("SELECT count(*) FROM payloads") == 3)
        #expect(isFound(try store.fetch(2, for: "bob"), "one", first: true))
        #expect(isFound(try store.fetch(4, for: "bob"), "", first: true))
    }

    @Test("A commit that fails leaves nothing behind, and the next one holds")
    func full() throws {
        let store = try BackendStore(path: nil)
        try store.commit(BackendCounts())
        try store.database.execute("PRAGMA max_page_count=\(try store.database.number("PRAGMA page_count"))")
        let large = String(repeating: "x", count: 100_000)
        #expect { try store.create(notification("bob", large)) } throws: { "\($0)".contains("full") }
        store.rollBack()
        #expect(try store.database.number("SELECT count(*) FROM notifications") == 0)
        try store.database.execute("PRAGMA max_page_count=1000000")
        #expect(try store.create(notification("bob", large)) == 1)
        try store.commit(BackendCounts())
    }

    @Test("A file that is something else, or that another backend has, is told and left as it is")
    func wrong() throws {
        let path = try Path()
        try "no database, but text that is long enough to be looked at".write(
            toFile: path.file, atomically: true, encoding: .utf8)
        #expect { try BackendStore(path: path.file) } throws: { "\($0)" == "\(path.file): not a SQLite database" }
        let other = path.folder + "/other.db"
        try SQLiteDatabase(path: other).execute("CREATE TABLE t (a)")
        #expect { try BackendStore(path: other) } throws: {
            "\($0)" == "\(other): a SQLite database, but not one of mock-apns backend"
        }
        let mine = path.folder + "/mine.db"
        let store = try BackendStore(path: mine)
        #expect { try BackendStore(path: mine) } throws: { "\($0)" == "\(mine): another program has it open" }
        _ = store
    }
}
