import Glibc
import Settings

/// Device tokens from a file, memory-mapped: one token a line, or CSV with `token,tag;tag;…`, or with the columns its header
/// line names (`DeviceColumns`), of which token and tags are looked at here.
///
/// The whole file is checked when it is opened; empty lines at its end are no lines. Memory: 8 bytes for every 16 lines and two a line,
/// 25 MB for 10 million, up to 2.5 times that while it is opened. Cost of a push: its line is looked up, and a token of 64 digits copied in one go where all are of 64.
public final class DeviceFile: DeviceList, @unchecked Sendable {
    public let path: String
    public override var count: UInt64 { lines }
    public override var longestToken: Int { longest }
    public override var writtenFile: String? { state.isUnwritten ? nil : path }
    @exclusivity(unchecked) private var lines: UInt64 = 0
    /// Digits of the longest token and of the shortest.
    @exclusivity(unchecked) private var longest = 0
    @exclusivity(unchecked) private var shortest = Int.max
    private let base: UnsafePointer<UInt8>
    /// Bytes mapped, and of them those up to the end of the last line that is not empty.
    private let mappedSize: Int
    private let size: Int
    private let descriptor: Int32
    private let state: UnwrittenFile
    /// Where the first line begins.
    private let start: Int
    private let columns: DeviceColumns
    private let tokenPlace: Int
    private let tagsPlace: Int?
    /// Where the first of each 16 lines begins, and how far behind it each of them does. A line more than there are begins behind
    /// the last.
    @exclusivity(unchecked) private var groups: UnsafeMutablePointer<Int>?
    @exclusivity(unchecked) private var places: UnsafeMutablePointer<UInt16>?
    private static let linesPerGroup: UInt64 = 16
    /// The place of a line that begins 65,535 bytes and more behind its group.
    private static let farPlace = UInt16.max

    /// - Throws: one line naming the file, the line and what is wrong there.
    public init(path: String) throws(PayloadError) {
        self.path = path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw PayloadError("cannot read the device file \(path): \(String(cString: strerror(errno)))")
        }
        var isKept = false
        defer { if !isKept { close(descriptor) } }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PayloadError("\(path): not a regular file; expected device tokens, one a line")
        }
        guard status.st_size > 0 else {
            throw PayloadError("\(path): the file is empty; expected device tokens, one a line")
        }
        mappedSize = Int(status.st_size)
        guard let mapping = mmap(nil, mappedSize, PROT_READ, MAP_PRIVATE, descriptor, 0), mapping != MAP_FAILED else {
            throw PayloadError("cannot map \(path): \(String(cString: strerror(errno)))")
        }
        let base = UnsafePointer(mapping.assumingMemoryBound(to: UInt8.self))
        var size = mappedSize
        while size > 0, base[size - 1] == 0x0A || base[size - 1] == 0x0D { size -= 1 }
        do throws(PayloadError) {
            start = DeviceColumns.markLength(UnsafeBufferPointer(start: base, count: size))
            columns = try DeviceColumns(firstLine: Self.firstLine(base + start, size - start))
        } catch {
            munmap(mapping, mappedSize)
            throw PayloadError("\(path):1: \(error)")
        }
        self.base = base
        self.size = size
        tokenPlace = columns.tokenPlace
        tagsPlace = columns.all.firstIndex(of: .tags)
        self.descriptor = descriptor
        state = UnwrittenFile(descriptor, status, path: path)
        isKept = true
        super.init()
        MappedFaults.add(UnsafeRawBufferPointer(start: mapping, count: mappedSize), path)
        // From here on deinit unmaps, also when this throws.
        try scan()
        madvise(mapping, mappedSize, MADV_SEQUENTIAL)
    }

    deinit {
        groups?.deallocate()
        places?.deallocate()
        MappedFaults.remove(UnsafeRawBufferPointer(start: base, count: mappedSize))
        munmap(UnsafeMutableRawPointer(mutating: base), mappedSize)
        close(descriptor)
    }

    /// As much of it as a header line can have.
    private static func firstLine(_ base: UnsafePointer<UInt8>, _ size: Int) -> String {
        let bytes = UnsafeBufferPointer(start: base, count: min(size, 1024)).prefix { $0 != 0x0A && $0 != 0x0D }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func lineEnd(_ start: Int) -> Int {
        // A file that is changed under us may have lost its lines.
        guard start < size, let found = memchr(base + start, 0x0A, size - start) else { return size }
        return UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base
    }

    private func scan() throws(PayloadError) {
        var start = start
        var number = 1
        var groups: [Int] = []
        var places: [UInt16] = []
        func note(_ start: Int) {
            if places.count % Int(Self.linesPerGroup) == 0 { groups.append(start) }
            places.append(UInt16(min(start - groups[groups.count - 1], Int(Self.farPlace))))
        }
        if columns.hasHeader {
            start = lineEnd(start) + 1
            number = 2
        }
        while start < size {
            let end = lineEnd(start)
            try checkLine(start, contentEnd(start, end), number)
            note(start)
            lines += 1
            start = end + 1
            number += 1
        }
        guard lines > 0 else { throw PayloadError("\(path): no device token in it; expected one a line") }
        note(size + 1)
        self.groups = Self.kept(groups)
        self.places = Self.kept(places)
    }

    private static func kept<Value>(_ values: [Value]) -> UnsafeMutablePointer<Value> {
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: values.count)
        memory.initialize(from: values, count: values.count)
        return memory
    }

    /// Without the carriage return of a CRLF.
    private func contentEnd(_ start: Int, _ end: Int) -> Int {
        end > start && base[end - 1] == 0x0D ? end - 1 : end
    }

    private func checkLine(_ start: Int, _ end: Int, _ number: Int) throws(PayloadError) {
        var field = start
        var place = 0
        // An empty field may follow the last comma.
        while place == 0 || field <= end {
            let fieldEnd = fieldEnd(field, end)
            if place == columns.tokenPlace {
                try checkToken(field, fieldEnd, number, start)
            } else if place == tagsPlace {
                try checkTags(field, fieldEnd, number, start)
            }
            place += 1
            field = fieldEnd + 1
        }
        if let problem = columns.problem(fields: place) { throw PayloadError("\(path):\(number): \(problem)") }
        if place <= columns.tokenPlace { throw PayloadError("\(path):\(number): \(Self.noToken)") }
    }

    private static let noToken = "no device token on this line; expected hexadecimal digits"

    private func checkToken(_ start: Int, _ end: Int, _ number: Int, _ line: Int) throws(PayloadError) {
        for position in start..<end {
            let byte = base[position]
            let isHex = (48...57).contains(byte) || (97...102).contains(byte) || (65...70).contains(byte)
            guard isHex else {
                throw PayloadError(
                    "\(path):\(number):\(position - line + 1): character \(Self.show(byte)) in a device token; "
                        + "expected hexadecimal digits")
            }
        }
        let length = end - start
        guard length > 0 else { throw PayloadError("\(path):\(number): \(Self.noToken)") }
        guard length % 2 == 0, length <= 400 else {
            throw PayloadError(
                "\(path):\(number): a device token of \(length) digits; expected an even number of at most 400 (64 today)"
            )
        }
        longest = max(longest, length)
        shortest = min(shortest, length)
    }

    private func checkTags(_ start: Int, _ end: Int, _ number: Int, _ line: Int) throws(PayloadError) {
        var tag = start
        for index in start...end where index == end || base[index] == 0x3B {
            try checkTag(tag, index, number, line)
            tag = index + 1
        }
    }

    private func checkTag(_ start: Int, _ end: Int, _ number: Int, _ line: Int) throws(PayloadError) {
        guard end - start <= 120 else {
            throw PayloadError("\(path):\(number):\(start - line + 1): a tag of \(end - start) characters; at most 120")
        }
        for position in start..<end where !Self.isTagByte(base[position]) {
            throw PayloadError(
                "\(path):\(number):\(position - line + 1): character \(Self.show(base[position])) in a tag; "
                    + "expected letters, digits and _ @ # . : -")
        }
    }

    static func isTagByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, 0x5F, 0x40, 0x23, 0x2E, 0x3A, 0x2D: true
        default: false
        }
    }

    private static func show(_ byte: UInt8) -> String {
        (33...126).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "0x\(String(byte, radix: 16))"
    }

    /// Where line `number` begins, of 0 to as many as there are.
    @inline(__always)
    private func lineStart(_ number: UInt64) -> Int {
        let place = places.unsafelyUnwrapped[Int(truncatingIfNeeded: number)]
        let group = groups.unsafelyUnwrapped[Int(truncatingIfNeeded: number / Self.linesPerGroup)]
        return place < Self.farPlace ? group &+ Int(place) : farLineStart(group, number % Self.linesPerGroup)
    }

    @inline(never)
    private func farLineStart(_ group: Int, _ lines: UInt64) -> Int {
        var start = group
        for _ in 0..<lines { start = lineEnd(start) + 1 }
        return start
    }

    /// nil when there are fewer devices.
    @inline(__always)
    private func line(_ device: UInt64) -> (start: Int, end: Int)? {
        guard device < lines else { return nil }
        let start = lineStart(device)
        return (start, contentEnd(start, lineStart(device &+ 1) &- 1))
    }

    /// All tokens have the 64 digits of today.
    private var areOfToday: Bool { longest == 64 && shortest == 64 }

    @inline(__always)
    private func fieldEnd(_ start: Int, _ end: Int) -> Int {
        var position = start
        while position < end, base[position] != 0x2C { position += 1 }
        return position
    }

    /// Where field `place` of the line begins; nil when the line has fewer.
    @inline(__always)
    private func field(_ place: Int, _ start: Int, _ end: Int) -> Int? {
        var position = start
        for _ in 0..<place {
            position = fieldEnd(position, end) + 1
            if position > end { return nil }
        }
        return position
    }

    public override func writeToken(_ device: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        guard let (lineStart, end) = line(device), let start = field(tokenPlace, lineStart, end) else { return 0 }
        // What the file held is known, not what it holds: it may have been written to since, and then there is no token.
        let length = areOfToday ? 64 : fieldEnd(start, end) &- start
        guard length <= min(longest, end &- start), HexDigits.areDigits(base + start, length) else { return 0 }
        if length == 64 {
            UnsafeMutableRawPointer(output).storeBytes(
                of: UnsafeRawPointer(base + start).loadUnaligned(as: SIMD64<UInt8>.self), as: SIMD64<UInt8>.self)
        } else {
            output.update(from: base + start, count: length)
        }
        return length
    }

    public override func writeTag(_ device: UInt64, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        guard let tagsPlace, let (lineStart, end) = line(device) else { return 0 }
        var position: Int
        if areOfToday, tokenPlace == 0, tagsPlace == 1 {
            position = lineStart &+ 65
        } else {
            guard let start = field(tagsPlace, lineStart, end) else { return 0 }
            position = start
        }
        var current = 0
        while current < number {
            guard position < end, base[position] != 0x2C else { return 0 }
            if base[position] == 0x3B { current += 1 }
            position += 1
        }
        var length = 0
        while position + length < end, base[position + length] != 0x3B, base[position + length] != 0x2C,
            length < DevicePopulation.longestTag
        {
            output[length] = base[position + length]
            length += 1
        }
        return length
    }
}
