import Glibc

/// Pages of memory of one size that grow in number and never move; given back all together. What is in them at first is not said.
struct PageTable: ~Copyable {
    private var table = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(capacity: 1)
    private var room = 1
    private(set) var count = 0
    private let pageBytes: Int

    /// - Parameter pageBytes: of each page, a multiple of `hugePage`.
    init(pageBytes: Int) { self.pageBytes = pageBytes }

    deinit {
        for page in 0..<count { HugeMemory.free(table[page]) }
        table.deallocate()
    }

    @inline(__always)
    subscript(page: Int) -> UnsafeMutableRawPointer { table[page] }

    mutating func add() {
        if count == room {
            let larger = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(capacity: room * 2)
            larger.update(from: table, count: count)
            table.deallocate()
            (table, room) = (larger, room * 2)
        }
        // A fleet of few devices takes small pages only.
        table[count] = HugeMemory.allocate(pageBytes, small: count == 0 ? HugeMemory.page : 0)
        count += 1
    }
}

/// Memory that is looked at all over: in pages of 2 MiB where the system has them, so that few addresses have to be translated.
/// What is not written to takes nothing.
enum HugeMemory {
    static let page = 2 << 20

    /// - Parameters:
    ///   - bytes: more than 0.
    ///   - small: the first so many are in pages as they are usual.
    static func allocate(_ bytes: Int, small: Int) -> UnsafeMutableRawPointer {
        var memory: UnsafeMutableRawPointer?
        let status = posix_memalign(&memory, bytes < page ? 64 : page, bytes)
        guard status == 0, let memory else { fatalError("no memory for \(bytes) bytes of devices") }
        // Only advice: without it all is slower, and right.
        if bytes > small, bytes >= page { _ = madvise(memory + small, bytes - small, MADV_HUGEPAGE) }
        return memory
    }

    static func free(_ memory: UnsafeMutableRawPointer) { Glibc.free(memory) }
}
