import Glibc

/// An interval log on disk that grows line by line, so that nothing of it is kept in memory and what was written outlives the
/// process. For one thread at a time.
///
/// A line is handed to the kernel as a whole; when that fails, the file is cut after its last whole line and stays as it is.
public final class HistogramLogFile {
    private let path: String
    private let startTime: Double
    /// As write(2).
    private let writeBytes: (Int32, UnsafeRawPointer, Int) -> Int
    private var descriptor: Int32 = -1
    /// Bytes of whole lines.
    private var length = 0
    /// Why no more is written, one line; nil while all is well.
    public private(set) var problem: String?

    /// The file is made with the first line.
    ///
    /// - Parameter startTime: UNIX seconds.
    package convenience init(path: String, startTime: Double) {
        self.init(path: path, startTime: startTime) { Glibc.write($0, $1, $2) }
    }

    init(path: String, startTime: Double, write: @escaping (Int32, UnsafeRawPointer, Int) -> Int) {
        self.path = path
        self.startTime = startTime
        writeBytes = write
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Adds an interval; none after a failure.
    public func append(_ interval: HistogramLog.Interval) {
        begin()
        if problem == nil { write(HistogramLog.line(interval)) }
    }

    /// Makes the file, with no interval in it yet; nothing when there is one.
    public func begin() {
        guard descriptor < 0, problem == nil else { return }
        descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o644)
        if descriptor < 0 { fail() } else { write(HistogramLog.header(startTime: startTime)) }
    }

    private func write(_ text: String) {
        var rest = text
        let count = rest.withUTF8 { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = writeBytes(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { break }
                offset += count
            }
            return offset
        }
        if count == text.utf8.count { length += count } else { fail() }
    }

    private func fail() {
        problem = "cannot write \(path): \(String(cString: strerror(errno)))"
        guard descriptor >= 0 else { return }
        // A file that cannot be cut, such as a device, stays as it is.
        _ = ftruncate(descriptor, off_t(length))
        close(descriptor)
        descriptor = -1
    }
}
