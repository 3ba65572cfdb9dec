import CRoaring

/// How an index file is laid out: a header of 64 words, then sections, each beginning at a multiple of 32 bytes. All numbers are of
/// the machine that wrote it; another byte order does not have the magic number.
enum IndexLayout {
    static let headerWords = 64
    static let headerSize = headerWords * 8
    /// "pushaudi" where the lowest byte comes first.
    static let magic: UInt64 = 0x6964_7561_6873_7570
    /// Ours, and CRoaring's, whose frozen form may change from one version to the next.
    static let version: UInt64 =
        2 << 32 | UInt64(ROARING_VERSION_MAJOR) << 24 | UInt64(ROARING_VERSION_MINOR) << 16
        | UInt64(ROARING_VERSION_REVISION)

    /// Words of the header.
    enum Word: Int {
        case magic, version, length, fileSize, fileSeconds, fileNanoseconds, fileInode, rows, longestToken, format
        case longestTags
        /// Where the names of each kind begin among the entries: one word a kind.
        case kinds = 11
        /// Three words a section: offset, length, checksum.
        case sections = 17
        case checksum = 63
    }

    /// Names, in the order in which their entries stand.
    enum Kind: Int, CaseIterable {
        case tag, topic, environment, language, template
    }

    enum Section: Int, CaseIterable {
        /// A place (below) a row.
        case tokens, tags, users
        /// A UInt16 a row, none: 0xFFFF. UNIX seconds in a UInt32 a row, none: 0.
        case templates, topics, registered
        /// Sorted `NumberPairs`: hash and row, hash and row, expiry and row, number of a group of rows with one token and row.
        case tagPairs, tokenPairs, expiries, groups
        /// `IndexEntry`, sorted by kind and name; the names; frozen bitmaps.
        case entries, names, bitmaps

        /// Bytes for each of so many rows, where that is fixed; the section may be empty also.
        var bytesPerRow: Int? {
            switch self {
            case .tokens, .tags, .users: 8
            case .templates, .topics: 2
            case .registered: 4
            default: nil
            }
        }

        /// What its length is a multiple of.
        var unit: Int {
            switch self {
            case .tokens, .tags, .users, .tagPairs, .tokenPairs, .expiries, .groups: 8
            case .templates, .topics: 2
            case .registered: 4
            case .entries: MemoryLayout<IndexEntry>.stride
            case .names: 1
            case .bitmaps: 32
            }
        }
    }

    static let none = UInt16.max
    /// Names of a kind that have a number a row.
    static let mostNumbered = 65_535
    static let mostTags = 1 << 20
}

/// A name with the rows that have it.
struct IndexEntry: BitwiseCopyable {
    /// In the names and the bitmaps.
    var name: UInt64
    var bitmap: UInt64
    var nameLength: UInt32
    var rows: UInt32
    var bitmapLength: UInt64
}

/// Where bytes are in the registrations file: offset in the upper 40 bits (1 TiB), length in the lower 24 (16 MiB).
enum IndexPlace {
    static let longest = (1 << 24) - 1

    @inline(__always)
    static func of(_ start: Int, _ end: Int) -> UInt64 { UInt64(start) << 24 | UInt64(end - start) }

    @inline(__always)
    static func start(_ place: UInt64) -> Int { Int(place >> 24) }

    @inline(__always)
    static func length(_ place: UInt64) -> Int { Int(place & 0xFF_FFFF) }
}
