import CRoaring
import Glibc

/// An index, mapped read-only, that has been found sound: its header and table of sections, the lengths of all sections against the
/// file's, and every byte by the checksum of its section. Opening reads all of it once: 40 ms for the 520 MB of ten million rows, where
/// the kernel still has them. What is written into it afterwards gives wrong rows at worst: numbers are checked where they are used.
final class RegistrationIndex: @unchecked Sendable {
    let memory: IndexMemory
    private let words: [UInt64]
    let rows: UInt32
    let longestToken: Int
    let format: RegistrationReader.Format
    let entries: UnsafeBufferPointer<IndexEntry>

    /// - Returns: nil for whatever is no index of this file as it is, made by this version.
    init?(_ memory: IndexMemory, of fingerprint: FileFingerprint) {
        let bytes = memory.bytes
        guard bytes.count >= IndexLayout.headerSize, let base = bytes.baseAddress else { return nil }
        let words = Array(
            UnsafeBufferPointer(start: base.assumingMemoryBound(to: UInt64.self), count: IndexLayout.headerWords))
        func word(_ word: IndexLayout.Word) -> UInt64 { words[word.rawValue] }
        guard word(.magic) == IndexLayout.magic, word(.version) == IndexLayout.version,
            word(.checksum) == IndexWriter.checksum(words), word(.length) == UInt64(bytes.count),
            word(.fileSize) == fingerprint.size, word(.fileSeconds) == UInt64(bitPattern: fingerprint.seconds),
            word(.fileNanoseconds) == UInt64(bitPattern: fingerprint.nanoseconds),
            word(.fileInode) == fingerprint.inode,
            word(.rows) > 0, word(.rows) <= UInt64(IndexBuilder.mostRows),
            word(.longestToken) > 0, word(.longestToken) <= UInt64(RegistrationRules.longestToken),
            let format = RegistrationReader.Format(rawValue: word(.format))
        else { return nil }
        self.memory = memory
        self.words = words
        self.format = format
        rows = UInt32(word(.rows))
        longestToken = Int(word(.longestToken))
        var offset = IndexLayout.headerSize
        for section in IndexLayout.Section.allCases {
            let at = IndexLayout.Word.sections.rawValue + 3 * section.rawValue
            guard words[at] == UInt64(offset), words[at + 1] <= UInt64(bytes.count - offset) else { return nil }
            let length = Int(words[at + 1])
            guard Self.isRight(length, section, Int(word(.rows))), IndexWriter.padded(length) <= bytes.count - offset
            else {
                return nil
            }
            let part = UnsafeRawBufferPointer(start: base + offset, count: length)
            guard ByteHash.checksum(part) == words[at + 2] else { return nil }
            memory.leave(offset, length)
            offset += IndexWriter.padded(length)
        }
        guard offset == bytes.count else { return nil }
        let at = IndexLayout.Word.sections.rawValue + 3 * IndexLayout.Section.entries.rawValue
        entries = UnsafeBufferPointer(
            start: (base + Int(words[at])).assumingMemoryBound(to: IndexEntry.self),
            count: Int(words[at + 1]) / MemoryLayout<IndexEntry>.stride)
        guard areEntriesRight else { return nil }
    }

    /// The index file at a path; nil for whatever is no index of the file with this fingerprint.
    static func open(_ path: String, of fingerprint: FileFingerprint) -> RegistrationIndex? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size >= IndexLayout.headerSize,
            let mapping = mmap(nil, status.st_size, PROT_READ, MAP_SHARED, descriptor, 0), mapping != MAP_FAILED
        else { return nil }
        return RegistrationIndex(
            IndexMemory(UnsafeRawBufferPointer(start: mapping, count: status.st_size), name: path), of: fingerprint)
    }

    private static func isRight(_ length: Int, _ section: IndexLayout.Section, _ rows: Int) -> Bool {
        if let each = section.bytesPerRow {
            let isNeeded = section == .tokens || section == .tags
            return length == rows * each || length == 0 && !isNeeded
        }
        return length % section.unit == 0
    }

    private var areEntriesRight: Bool {
        let names = bytes(.names).count
        let bitmaps = bytes(.bitmaps).count
        var before = 0
        for kind in 0...IndexLayout.Kind.allCases.count {
            let start = words[IndexLayout.Word.kinds.rawValue + kind]
            guard start >= UInt64(before), start <= UInt64(entries.count) else { return false }
            before = Int(start)
        }
        guard before == entries.count else { return false }
        return entries.allSatisfy {
            $0.name <= UInt64(names) && UInt64($0.nameLength) <= UInt64(names) - $0.name
                && $0.bitmap <= UInt64(bitmaps) && $0.bitmapLength <= UInt64(bitmaps) - $0.bitmap
        }
    }

    /// Of what the file says, by the checksums of all sections: the same for a copy of it, wherever and however old that is.
    var contentChecksum: UInt64 {
        words[IndexLayout.Word.rows.rawValue..<IndexLayout.Word.checksum.rawValue].reduce(1, ByteHash.mix)
    }

    /// A section's bytes.
    func bytes(_ section: IndexLayout.Section) -> UnsafeRawBufferPointer {
        let at = IndexLayout.Word.sections.rawValue + 3 * section.rawValue
        return UnsafeRawBufferPointer(
            start: memory.bytes.baseAddress! + Int(words[at]), count: Int(words[at + 1]))
    }

    /// A section as numbers.
    func numbers<Number: BitwiseCopyable>(_ section: IndexLayout.Section, as type: Number.Type) -> UnsafeBufferPointer<
        Number
    > {
        let bytes = bytes(section)
        return UnsafeBufferPointer(
            start: bytes.baseAddress!.assumingMemoryBound(to: Number.self),
            count: bytes.count / MemoryLayout<Number>.stride)
    }

    // MARK: Names

    /// The entries of a kind.
    func range(_ kind: IndexLayout.Kind) -> Range<Int> {
        let at = IndexLayout.Word.kinds.rawValue + kind.rawValue
        return Int(words[at])..<Int(words[at + 1])
    }

    func nameBytes(_ entry: Int) -> UnsafeBufferPointer<UInt8> {
        let names = bytes(.names)
        return UnsafeBufferPointer(
            start: names.baseAddress!.assumingMemoryBound(to: UInt8.self) + Int(entries[entry].name),
            count: Int(entries[entry].nameLength))
    }

    func name(_ entry: Int) -> String { String(decoding: nameBytes(entry), as: UTF8.self) }

    func names(_ kind: IndexLayout.Kind) -> [String] { range(kind).map(name) }

    /// The entry of a name.
    func entry(_ kind: IndexLayout.Kind, _ name: String) -> Int? {
        var name = name
        return name.withUTF8 { wanted in
            var low = range(kind).lowerBound
            var high = range(kind).upperBound
            while low < high {
                let middle = low + (high - low) / 2
                let here = nameBytes(middle)
                let length = min(here.count, wanted.count)
                let order = length == 0 ? 0 : Int(memcmp(here.baseAddress!, wanted.baseAddress!, length))
                if order == 0, here.count == wanted.count { return middle }
                if order < 0 || order == 0 && here.count < wanted.count { low = middle + 1 } else { high = middle }
            }
            return nil
        }
    }

    /// The rows of an entry, a view of the mapped index.
    func rows(of entry: Int) -> RowSet {
        let bitmaps = bytes(.bitmaps)
        let part = UnsafeRawBufferPointer(
            start: bitmaps.baseAddress! + Int(entries[entry].bitmap), count: Int(entries[entry].bitmapLength))
        return RowSet(frozen: part, owner: self) ?? RowSet()
    }

    func rows(_ kind: IndexLayout.Kind, _ name: String) -> RowSet? { entry(kind, name).map(rows(of:)) }
}
