import COpenSSL

/// Rich notifications, actions and counts, in a SQLite file.
///
/// Whatever is done between two commits is one transaction. A commit is in the file's write-ahead log, handed to the kernel: it
/// survives the end of the process, however that comes; a machine that loses power may lose the last ones, and nothing older.
final class BackendStore {
    /// What is asked for by id.
    enum Found {
        /// - Parameter isFirst: it was not read before.
        case payload(Payload?, richType: String?, isFirst: Bool)
        case forbidden
        case unknown
    }

    let database: SQLiteDatabase
    private let begin, commitAll, rollBackAll: SQLiteStatement
    private let insertPayload, findPayload, insertNotification, findNotification, markRead: SQLiteStatement
    private let insertAction, setCount: SQLiteStatement
    private var isInTransaction = false
    private var lastID: Int64
    /// What is in the file, or will be with the next commit.
    private(set) var counts = BackendCounts()
    /// What is in the file.
    private var written = BackendCounts()

    private static let applicationID = 0x7075_7362
    private static let version = 1

    /// - Parameter path: nil keeps everything in memory.
    /// - Throws: also when the file is something else, or another backend has it.
    init(path: String?) throws(BackendError) {
        let name = path ?? ":memory:"
        database = try SQLiteDatabase(path: name)
        // One process has the file to itself: no memory is shared with others, and nobody is waited for.
        try database.execute("PRAGMA locking_mode=EXCLUSIVE")
        let tables = try database.number("SELECT count(*) FROM sqlite_master")
        let application = try database.number("PRAGMA application_id")
        guard tables == 0 || application == Self.applicationID else {
            throw BackendError("\(name): a SQLite database, but not one of mock-apns backend")
        }
        let found = try database.number("PRAGMA user_version")
        guard tables == 0 || found == Self.version else {
            throw BackendError("\(name): version \(found) of the store; this program knows \(Self.version)")
        }
        try database.execute("PRAGMA journal_mode=WAL")
        try database.execute("PRAGMA synchronous=NORMAL")
        try database.execute("BEGIN EXCLUSIVE")
        if tables == 0 { try database.execute(Self.schema) }
        try database.execute("COMMIT")
        lastID = try database.number("SELECT max(id) FROM notifications")
        begin = try SQLiteStatement(database, "BEGIN")
        commitAll = try SQLiteStatement(database, "COMMIT")
        rollBackAll = try SQLiteStatement(database, "ROLLBACK")
        insertPayload = try SQLiteStatement(
            database, "INSERT OR IGNORE INTO payloads (digest, type, body) VALUES (?, ?, ?)")
        findPayload = try SQLiteStatement(database, "SELECT id FROM payloads WHERE digest = ?")
        insertNotification = try SQLiteStatement(
            database, "INSERT INTO notifications (id, user, message, rich_type, payload) VALUES (?, ?, ?, ?, ?)")
        findNotification = try SQLiteStatement(
            database,
            """
            SELECT user, rich_type, read, payload, type, body FROM notifications \
            LEFT JOIN payloads ON payloads.id = payload WHERE notifications.id = ?
            """)
        markRead = try SQLiteStatement(database, "UPDATE notifications SET read = 1 WHERE id = ?")
        insertAction = try SQLiteStatement(
            database, "INSERT INTO actions (user, device, notification, action, text) VALUES (?, ?, ?, ?, ?)")
        setCount = try SQLiteStatement(database, "INSERT OR REPLACE INTO counts (kind, count) VALUES (?, ?)")
        let all = try SQLiteStatement(database, "SELECT kind, count FROM counts")
        while try all.step() {
            // A kind that this program does not know stays in the file.
            if let kind = BackendCounts.Kind(rawValue: all.text(0) ?? "") {
                counts[kind] = UInt64(clamping: all.number(1))
            }
        }
        written = counts
    }

    /// A payload that several notifications have is kept once.
    private static let schema = """
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        CREATE TABLE payloads (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, type TEXT NOT NULL, body BLOB NOT NULL);
        CREATE TABLE notifications (id INTEGER PRIMARY KEY, user TEXT NOT NULL, message TEXT NOT NULL, rich_type TEXT,
            read INTEGER NOT NULL DEFAULT 0, payload INTEGER REFERENCES payloads (id));
        CREATE TABLE actions (id INTEGER PRIMARY KEY, user TEXT NOT NULL, device TEXT NOT NULL, notification TEXT NOT NULL,
            action TEXT NOT NULL, text TEXT);
        CREATE TABLE counts (kind TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
        """

    private func enter() throws(BackendError) {
        if isInTransaction { return }
        try begin.run()
        isInTransaction = true
    }

    /// - Returns: its id, one more than the last.
    func create(_ notification: NewNotification) throws(BackendError) -> Int64 {
        guard lastID < .max else { throw BackendError("the store has no number left for a notification") }
        try enter()
        var payload: Int64?
        if let content = notification.payload {
            let digest = content.digest
            insertPayload.bind(1, digest)
            insertPayload.bind(2, content.type)
            insertPayload.bind(3, content.body)
            try insertPayload.run()
            findPayload.bind(1, digest)
            payload = try findPayload.step() ? findPayload.number(0) : nil
            findPayload.reset()
        }
        insertNotification.bind(1, lastID + 1)
        insertNotification.bind(2, notification.user)
        insertNotification.bind(3, notification.message)
        insertNotification.bind(4, notification.richType)
        insertNotification.bind(5, payload)
        try insertNotification.run()
        lastID += 1
        return lastID
    }

    /// The payload of a notification, which has then been read.
    func fetch(_ id: Int64, for user: String) throws(BackendError) -> Found {
        try enter()
        findNotification.bind(1, id)
        defer { findNotification.reset() }
        guard try findNotification.step() else { return .unknown }
        let owner = findNotification.text(0)
        guard owner == user || owner == NewNotification.everybody else { return .forbidden }
        let isFirst = findNotification.number(2) == 0
        let payload =
            findNotification.isNull(3)
            ? nil : Payload(type: findNotification.text(4) ?? "", body: findNotification.bytes(5))
        let richType = findNotification.text(1)
        if isFirst {
            markRead.bind(1, id)
            try markRead.run()
        }
        return .payload(payload, richType: richType, isFirst: isFirst)
    }

    func add(_ action: TakenAction, of user: String) throws(BackendError) {
        try enter()
        insertAction.bind(1, user)
        insertAction.bind(2, action.device)
        insertAction.bind(3, action.notification)
        insertAction.bind(4, action.action)
        insertAction.bind(5, action.text)
        try insertAction.run()
    }

    /// Keeps what was done since the last commit, and these counts with it; or nothing of it.
    func commit(_ new: BackendCounts) throws(BackendError) {
        do throws(BackendError) {
            try enter()
            for kind in BackendCounts.Kind.allCases where new[kind] != written[kind] {
                setCount.bind(1, kind.rawValue)
                setCount.bind(2, Int64(clamping: new[kind]))
                try setCount.run()
            }
            try commitAll.run()
            isInTransaction = false
            counts = new
            written = new
        } catch {
            rollBack()
            throw error
        }
    }

    /// Counts that the next commit writes.
    func keep(_ new: BackendCounts) { counts = new }

    /// Forgets what was done since the last commit.
    func rollBack() {
        if isInTransaction { try? rollBackAll.run() }
        isInTransaction = false
        // A number that was given out in vain is given out again: nobody was told of it.
        if let last = try? database.number("SELECT max(id) FROM notifications") { lastID = last }
    }
}

/// What a device downloads.
struct Payload: Equatable, Sendable {
    /// Its media type.
    var type: String
    var body: [UInt8]

    /// SHA-256 of type and body.
    fileprivate var digest: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let bytes = Array(type.utf8) + [0] + body
        var count: UInt32 = 0
        _ = EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
        return digest
    }
}
