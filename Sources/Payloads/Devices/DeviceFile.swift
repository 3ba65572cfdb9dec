import Glibc

/// Device tokens from a file, memory-mapped: one token a line, or CSV with `token,tag;tag;…` and an optional header line.
///
/// The whole file is checked when it is opened. Memory: one 8-byte offset for every 16 lines, 5 MB for 10 million.
public final class DeviceFile: @unchecked Sendable {
    public let path: String
    public private(set) var count: UInt64 = 0
    /// Digits of the longest token.
    public private(set) var longestToken = 0
    private let base: UnsafePointer<UInt8>
    private let size: Int
    private var offsets: [Int] = []
    private static let linesPerOffset: UInt64 = 16

    /// - Throws: one line naming the file, the line and what is wrong there.
    public init(path: String) throws(PayloadError) {
        self.path = path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw PayloadError("cannot read the device file \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PayloadError("\(path): not a regular file; expected device tokens, one a line")
        }
        guard status.st_size > 0 else {
            throw PayloadError("\(path): the file is empty; expected device tokens, one a line")
        }
        size = Int(status.st_size)
        guard let mapping = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), mapping != MAP_FAILED else {
            throw PayloadError("cannot map \(path): \(String(cString: strerror(errno)))")
        }
        base = UnsafePointer(mapping.assumingMemoryBound(to: UInt8.self))
        try scan()
        madvise(mapping, size, MADV_SEQUENTIAL)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: base), size) }

    private func lineEnd(_ start: Int) -> Int {
        guard let found = memchr(base + start, 0x0A, size - start) else { return size }
        return UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base
    }

    private func scan() throws(PayloadError) {
        var start = 0
        var number = 1
        // An optional header line.
        let firstEnd = lineEnd(0)
        let header = String(decoding: UnsafeBufferPointer(start: base, count: min(firstEnd, 64)), as: UTF8.self)
        let trimmed = header.hasSuffix("\r") ? String(header.dropLast()) : header
        if trimmed == "token,tags" || trimmed == "token" {
            start = firstEnd + 1
            number = 2
        }
        while start < size {
            let end = lineEnd(start)
            try checkLine(start, contentEnd(start, end), number)
            if count % Self.linesPerOffset == 0 { offsets.append(start) }
            count += 1
            start = end + 1
            number += 1
        }
        guard count > 0 else { throw PayloadError("\(path): no device token in it; expected one a line") }
    }

    /// Without the carriage return of a CRLF.
    private func contentEnd(_ start: Int, _ end: Int) -> Int {
        end > start && base[end - 1] == 0x0D ? end - 1 : end
    }

    private func checkLine(_ start: Int, _ end: Int, _ number: Int) throws(PayloadError) {
        var position = start
        while position < end, base[position] != 0x2C {
            let byte = base[position]
            let isHex = (48...57).contains(byte) || (97...102).contains(byte) || (65...70).contains(byte)
            guard isHex else {
                throw PayloadError(
                    "\(path):\(number):\(position - start + 1): character \(Self.show(byte)) in a device token; "
                        + "expected hexadecimal digits")
            }
            position += 1
        }
        let length = position - start
        guard length > 0 else {
            throw PayloadError("\(path):\(number): no device token on this line; expected hexadecimal digits")
        }
        guard length % 2 == 0, length <= 400 else {
            throw PayloadError(
                "\(path):\(number): a device token of \(length) digits; expected an even number of at most 400 (64 today)"
            )
        }
        longestToken = max(longestToken, length)
        guard position < end else { return }
        var tag = position + 1
        for index in tag...end where index == end || base[index] == 0x3B {
            try checkTag(tag, index, number, start)
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

    private func line(_ device: UInt64) -> (start: Int, end: Int) {
        var start = offsets[Int(device / Self.linesPerOffset)]
        for _ in 0..<(device % Self.linesPerOffset) { start = lineEnd(start) + 1 }
        return (start, contentEnd(start, lineEnd(start)))
    }

    /// Writes the token's digits; returns how many (at most `longestToken`).
    func writeToken(_ device: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        let (start, end) = line(device)
        var length = 0
        while start + length < end, base[start + length] != 0x2C {
            output[length] = base[start + length]
            length += 1
        }
        return length
    }

    /// Writes tag `number`, counted from 0; nothing when the device has fewer.
    func writeTag(_ device: UInt64, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        let (start, end) = line(device)
        var position = start
        while position < end, base[position] != 0x2C { position += 1 }
        var current = 0
        position += 1
        while position < end, current < number {
            if base[position] == 0x3B { current += 1 }
            position += 1
        }
        guard current == number else { return 0 }
        var length = 0
        while position + length < end, base[position + length] != 0x3B {
            output[length] = base[position + length]
            length += 1
        }
        return length
    }
}
