import COpenSSL
import Glibc

/// OpenSSL's memory, with what it takes and gives back again and again kept at hand, thread by thread: three blocks of 40
/// bytes for each record it writes, and a record's buffer of 17 KB for each burst of connections that give theirs back
/// while idle (`TLSOptions.releaseIdleBuffers`). Such a buffer then goes from connection to connection.
///
/// Cost: a look-up of the thread's store, about 3 ns, instead of the allocator's fast path of 15 to 20 ns; six a record.
public enum OpenSSLMemory {
    /// Makes OpenSSL use it, and leave what it has to the end of the process: a thread that ends while the process does must find
    /// its locks. Must come before anything else of OpenSSL's, else nothing changes.
    ///
    /// - Returns: false when OpenSSL has memory of its own already.
    @discardableResult
    public static func install() -> Bool {
        guard pthread_key_create(&key, { BlockStore.release($0) }) == 0 else { return false }
        let isOurs =
            CRYPTO_set_mem_functions(
                { size, _, _ in OpenSSLMemory.take(size) },
                { block, size, _, _ in realloc(block, size) },
                { block, _, _ in OpenSSLMemory.giveBack(block) }) == 1
        return OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1 && isOurs
    }

    /// Set once, before any thread is started.
    nonisolated(unsafe) private static var key: pthread_key_t = 0

    private static func take(_ size: Int) -> UnsafeMutableRawPointer? {
        let kind: BlockStore.Kind
        if size <= BlockStore.small, size > 32 {
            kind = .small
        } else if size <= BlockStore.record, size > 16_384 {
            kind = .record
        } else {
            return malloc(size)
        }
        let store: UnsafeMutablePointer<BlockStore>
        if let own = pthread_getspecific(key) {
            store = own.assumingMemoryBound(to: BlockStore.self)
        } else {
            store = .allocate(capacity: 1)
            store.initialize(to: BlockStore())
            pthread_setspecific(key, store)
        }
        return store.pointee.take(kind) ?? malloc(kind == .small ? BlockStore.small : BlockStore.record)
    }

    private static func giveBack(_ block: UnsafeMutableRawPointer?) {
        guard let block else { return }
        // A thread that has taken nothing, or is ending, keeps nothing.
        if let own = pthread_getspecific(key),
            own.assumingMemoryBound(to: BlockStore.self).pointee.keep(block, usable: malloc_usable_size(block))
        {
            return
        }
        free(block)
    }
}

/// One thread's unused blocks, each list linked through the blocks themselves. A block may come from another thread.
struct BlockStore {
    enum Kind { case small, record }

    /// Bytes of a block of each kind: jemalloc has classes of just these sizes.
    static let small = 48
    static let record = 20_480
    private static let mostSmall = 64
    private static let mostRecords = 16

    private var smallBlocks: UnsafeMutableRawPointer?
    private var recordBlocks: UnsafeMutableRawPointer?
    private var smallCount = 0
    private var recordCount = 0

    mutating func take(_ kind: Kind) -> UnsafeMutableRawPointer? {
        switch kind {
        case .small:
            guard let block = smallBlocks else { return nil }
            smallBlocks = block.load(as: UnsafeMutableRawPointer?.self)
            smallCount -= 1
            return block
        case .record:
            guard let block = recordBlocks else { return nil }
            recordBlocks = block.load(as: UnsafeMutableRawPointer?.self)
            recordCount -= 1
            return block
        }
    }

    /// - Parameter usable: bytes that the allocator has given, at least what was asked for.
    /// - Returns: false when the block is not of a kept kind, or there are enough.
    mutating func keep(_ block: UnsafeMutableRawPointer, usable: Int) -> Bool {
        if usable >= Self.small, usable < 64, smallCount < Self.mostSmall {
            block.storeBytes(of: smallBlocks, as: UnsafeMutableRawPointer?.self)
            smallBlocks = block
            smallCount += 1
            return true
        }
        if usable >= Self.record, usable < Self.record + 4_096, recordCount < Self.mostRecords {
            block.storeBytes(of: recordBlocks, as: UnsafeMutableRawPointer?.self)
            recordBlocks = block
            recordCount += 1
            return true
        }
        return false
    }

    static func release(_ pointer: UnsafeMutableRawPointer?) {
        guard let store = pointer?.assumingMemoryBound(to: BlockStore.self) else { return }
        while let block = store.pointee.take(.small) { free(block) }
        while let block = store.pointee.take(.record) { free(block) }
        store.deallocate()
    }
}
