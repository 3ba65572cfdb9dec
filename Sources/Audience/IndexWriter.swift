import Glibc
import Settings

/// Writes an index: to a file, or to memory where there can be no file.
enum IndexWriter {
    /// The header and, for each section, where it lies.
    private static func header(
        _ contents: IndexContents, _ fingerprint: FileFingerprint
    ) -> (words: [UInt64], length: Int) {
        var words = [UInt64](repeating: 0, count: IndexLayout.headerWords)
        func set(_ word: IndexLayout.Word, _ value: UInt64) { words[word.rawValue] = value }
        set(.magic, IndexLayout.magic)
        set(.version, IndexLayout.version)
        set(.fileSize, fingerprint.size)
        set(.fileSeconds, UInt64(bitPattern: fingerprint.seconds))
        set(.fileNanoseconds, UInt64(bitPattern: fingerprint.nanoseconds))
        set(.fileInode, fingerprint.inode)
        set(.rows, contents.rows)
        set(.longestToken, contents.longestToken)
        set(.format, contents.format.rawValue)
        for (index, start) in contents.kinds.enumerated() { words[IndexLayout.Word.kinds.rawValue + index] = start }
        var offset = IndexLayout.headerSize
        for section in IndexLayout.Section.allCases {
            let bytes = contents.columns[section.rawValue].bytes
            let at = IndexLayout.Word.sections.rawValue + 3 * section.rawValue
            words[at] = UInt64(offset)
            words[at + 1] = UInt64(bytes.count)
            words[at + 2] = ByteHash.checksum(bytes)
            offset += padded(bytes.count)
        }
        set(.length, UInt64(offset))
        set(.checksum, checksum(words))
        return (words, offset)
    }

    /// Of a header's words but the last.
    static func checksum(_ words: [UInt64]) -> UInt64 {
        words.withUnsafeBytes {
            ByteHash.checksum(UnsafeRawBufferPointer(rebasing: $0[..<(IndexLayout.headerSize - 8)]))
        }
    }

    static func padded(_ length: Int) -> Int { (length + 31) & ~31 }

    /// Puts the index at `path`, whole or not at all.
    ///
    /// - Returns: false with `errno` set when the folder, or the disk, does not take it.
    static func write(_ contents: IndexContents, _ fingerprint: FileFingerprint, to path: String, mode: mode_t) -> Bool
    {
        guard let file = TemporaryFile(for: path, mode: mode) else { return false }
        let (words, _) = header(contents, fingerprint)
        guard words.withUnsafeBytes({ FileIO.writeAll(file.descriptor, $0) }) else { return false }
        let zeros = [UInt8](repeating: 0, count: 32)
        for column in contents.columns {
            let bytes = column.bytes
            let gap = padded(bytes.count) - bytes.count
            guard FileIO.writeAll(file.descriptor, bytes),
                zeros.withUnsafeBytes({ FileIO.writeAll(file.descriptor, UnsafeRawBufferPointer(rebasing: $0[..<gap])) }
                )
            else { return false }
        }
        return file.replaceTarget()
    }

    /// The same in memory.
    ///
    /// - Returns: nil when there is not enough of it.
    static func memory(_ contents: IndexContents, _ fingerprint: FileFingerprint) -> IndexMemory? {
        let (words, length) = header(contents, fingerprint)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let memory = mmap(nil, length, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED else {
            return nil
        }
        words.withUnsafeBytes { memory.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        var offset = IndexLayout.headerSize
        for column in contents.columns {
            let bytes = column.bytes
            if let base = bytes.baseAddress { (memory + offset).copyMemory(from: base, byteCount: bytes.count) }
            offset += padded(bytes.count)
        }
        mprotect(memory, length, PROT_READ)
        return IndexMemory(UnsafeRawBufferPointer(start: memory, count: length))
    }
}

/// Owns a mapping.
final class IndexMemory: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer
    private let isFile: Bool

    /// - Parameter name: of the file that is mapped; nil where it is memory only.
    init(_ bytes: UnsafeRawBufferPointer, name: String? = nil) {
        self.bytes = bytes
        isFile = name != nil
        if let name { MappedFaults.add(bytes, name) }
    }

    /// What was looked at once need not stay in this process' memory: looked at again it comes from the kernel's. Nothing where
    /// there is no file.
    func leave(_ offset: Int, _ length: Int) {
        guard isFile else { return }
        let (first, end) = ((offset + 0xFFFF) & ~0xFFFF, (offset + length) & ~0xFFFF)
        if first < end {
            madvise(UnsafeMutableRawPointer(mutating: bytes.baseAddress! + first), end - first, MADV_DONTNEED)
        }
    }

    deinit {
        MappedFaults.remove(bytes)
        munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }
}
