import Glibc

/// Why a file of numbers cannot be written or read, one line.
public struct BinaryFileFailure: Error, CustomStringConvertible, Sendable {
    public let description: String
    package init(_ description: String) { self.description = description }
}

/// The check at the end of such files: FNV-1a, 64 bits, over all bytes before it
/// (Fowler, Noll, Vo; draft-eastlake-fnv).
struct FileCheck {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func take(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
}

/// Writes a file of numbers whole or not at all: to a temporary name that is renamed at the end. A device or a pipe is written to
/// as it is. The file begins with eight letters that say what it is and ends with a `FileCheck`.
final class BinaryFileWriter {
    private let what: String
    private let path: String
    /// Where it is written, and where it goes then; the same for what is no plain file.
    private let temporary: String
    private let target: String
    private var file: UnsafeMutablePointer<FILE>?
    private var check = FileCheck()
    private var isComplete = true

    /// - Parameter what: what it is in words, for error messages.
    init(_ what: String, _ path: String, magic: String) throws(BinaryFileFailure) {
        self.what = what
        self.path = path
        var status = stat()
        let isThere = stat(path, &status) == 0
        let resolved = isThere ? realpath(path, nil) : nil
        defer { free(resolved) }
        target = resolved.map { String(cString: $0) } ?? path
        temporary = !isThere || status.st_mode & S_IFMT == S_IFREG ? target + ".partial" : target
        // A pipe that nobody reads is not waited for.
        let descriptor = Glibc.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o666)
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, 0) }
        file = descriptor >= 0 ? fdopen(descriptor, "w") : nil
        guard file != nil else { throw failure() }
        for letter in magic.utf8 { put(byte: letter) }
    }

    deinit {
        guard let file else { return }
        fclose(file)
        if temporary != target { unlink(temporary) }
    }

    private func put(byte: UInt8) {
        check.take(byte)
        if putc_unlocked(Int32(byte), file) < 0 { isComplete = false }
    }

    /// Eight bytes, the lowest first.
    func put(_ number: UInt64) {
        for place in 0..<8 { put(byte: UInt8(truncatingIfNeeded: number >> UInt64(place * 8))) }
    }

    /// Seven bits a byte, the lowest first (LEB128).
    func put(short number: UInt64) {
        var rest = number
        while rest >= 128 {
            put(byte: UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        put(byte: UInt8(rest))
    }

    /// The same of a difference, whose sign is in the lowest bit (ZigZag).
    func put(difference: Int64) { put(short: UInt64(bitPattern: difference << 1 ^ difference >> 63)) }

    func finish() throws(BinaryFileFailure) {
        put(check.value)
        let failed = fclose(file) != 0
        file = nil
        guard isComplete, !failed, temporary == target || rename(temporary, target) == 0 else {
            let failure = failure()
            if temporary != target { unlink(temporary) }
            throw failure
        }
    }

    private func failure() -> BinaryFileFailure {
        BinaryFileFailure("cannot write the \(what) \(path): \(String(cString: strerror(errno)))")
    }
}

/// Reads what `BinaryFileWriter` wrote. Its bytes may be anybody's: what does not hold is one line.
final class BinaryFileReader {
    private let what: String
    private let path: String
    private let file: UnsafeMutablePointer<FILE>
    private var check = FileCheck()

    /// - Throws: when the file is missing or another one, or no regular file: a pipe or a device could be waited for.
    init(_ what: String, _ path: String, magic: String) throws(BinaryFileFailure) {
        self.what = what
        self.path = path
        file = try Self.open(what, path)
        for letter in magic.utf8 {
            guard getc_unlocked(file) == Int32(letter) else { throw BinaryFileFailure("\(path): not a \(what)") }
            check.take(letter)
        }
    }

    deinit { fclose(file) }

    /// A regular file, to be read.
    static func open(_ what: String, _ path: String) throws(BinaryFileFailure) -> UnsafeMutablePointer<FILE> {
        func obstacle() -> BinaryFileFailure {
            BinaryFileFailure("cannot read the \(what) \(path): \(String(cString: strerror(errno)))")
        }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw obstacle() }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw BinaryFileFailure("\(path): no regular file; expected a \(what)")
        }
        guard let file = fdopen(descriptor, "r") else {
            let failure = obstacle()
            close(descriptor)
            throw failure
        }
        return file
    }

    private func byte() throws(BinaryFileFailure) -> UInt8 {
        let value = getc_unlocked(file)
        guard value >= 0 else { throw failure("the \(what) is truncated") }
        check.take(UInt8(truncatingIfNeeded: value))
        return UInt8(truncatingIfNeeded: value)
    }

    func number() throws(BinaryFileFailure) -> UInt64 {
        var number: UInt64 = 0
        for place in 0..<8 { number |= UInt64(try byte()) << UInt64(place * 8) }
        return number
    }

    func shortNumber() throws(BinaryFileFailure) -> UInt64 {
        var number: UInt64 = 0
        for place in 0..<10 {
            let byte = try byte()
            number |= UInt64(byte & 127) << UInt64(place * 7)
            if byte < 128 { return number }
        }
        throw failure("the \(what) is damaged")
    }

    func difference() throws(BinaryFileFailure) -> Int64 {
        let number = try shortNumber()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    /// - Throws: when what was read is not what was written, or more follows.
    func finish() throws(BinaryFileFailure) {
        let expected = check.value
        guard try number() == expected, getc_unlocked(file) < 0 else { throw failure("the \(what) is damaged") }
    }

    func failure(_ problem: String) -> BinaryFileFailure { BinaryFileFailure("\(path): \(problem)") }
}
