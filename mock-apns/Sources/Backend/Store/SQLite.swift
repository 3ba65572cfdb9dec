import CSQLite

/// A SQLite database, owned here, for one thread.
final class SQLiteDatabase {
    fileprivate let handle: OpaquePointer
    private let path: String

    /// Opens or makes it.
    init(path: String) throws(BackendError) {
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(
            path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard status == SQLITE_OK, let opened else {
            let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw BackendError("\(path): \(reason)")
        }
        handle = opened
        self.path = path
    }

    // With the last statement, which may outlive it.
    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws(BackendError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw problem }
    }

    /// The one whole number of the one row that a query gives.
    func number(_ sql: String) throws(BackendError) -> Int64 {
        let statement = try SQLiteStatement(self, sql)
        return try statement.step() ? statement.number(0) : 0
    }

    var problem: BackendError {
        switch sqlite3_errcode(handle) & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: BackendError("\(path): another program has it open")
        case SQLITE_NOTADB: BackendError("\(path): not a SQLite database")
        default: BackendError("\(path): \(String(cString: sqlite3_errmsg(handle)))")
        }
    }
}

/// A prepared statement, owned here. Places of parameters count from 1, columns from 0, as in SQLite.
final class SQLiteStatement {
    private let database: SQLiteDatabase
    private let handle: OpaquePointer

    init(_ database: SQLiteDatabase, _ sql: String) throws(BackendError) {
        var prepared: OpaquePointer?
        guard
            sqlite3_prepare_v3(
                database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil) == SQLITE_OK,
            let prepared
        else { throw database.problem }
        self.database = database
        handle = prepared
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ place: Int32, _ value: Int64?) {
        if let value { sqlite3_bind_int64(handle, place, value) } else { sqlite3_bind_null(handle, place) }
    }

    func bind(_ place: Int32, _ value: String?) {
        guard var value else {
            sqlite3_bind_null(handle, place)
            return
        }
        _ = value.withUTF8 { bytes in
            // An empty text may have no address, which SQLite would take for NULL.
            bytes.withMemoryRebound(to: CChar.self) { text in
                pushload_sqlite3_bind_text(handle, place, text.baseAddress ?? Self.nothing, Int32(text.count))
            }
        }
    }

    func bind(_ place: Int32, _ value: [UInt8]) {
        if value.isEmpty {
            sqlite3_bind_zeroblob(handle, place, 0)
        } else {
            _ = value.withUnsafeBytes {
                pushload_sqlite3_bind_blob(handle, place, $0.baseAddress, Int32($0.count))
            }
        }
    }

    nonisolated(unsafe) private static let nothing = UnsafePointer(UnsafeMutablePointer<CChar>.allocate(capacity: 1))

    /// Goes on to the next row.
    ///
    /// - Returns: false when there is none.
    func step() throws(BackendError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let problem = database.problem
            sqlite3_reset(handle)
            throw problem
        }
    }

    /// Runs it to its end; it may be run again.
    func run() throws(BackendError) {
        while try step() {}
        reset()
    }

    func reset() { sqlite3_reset(handle) }

    func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
