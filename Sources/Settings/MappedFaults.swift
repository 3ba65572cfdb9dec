import Glibc
import Synchronization

/// Ends the process with one line where a mapped file was cut short in place: reading what is no longer there raises SIGBUS, and
/// there is nothing to go on with.
///
/// The handler only writes a line that was made before, and leaves: nothing that a signal may not do. A SIGBUS for any other reason
/// is left to whoever had it before.
package enum MappedFaults {
    fileprivate struct Mapping {
        var start: UInt = 0
        var end: UInt = 0
        var line: UnsafeMutablePointer<CChar>?
    }

    /// Mappings known at once; of further ones the process ends without the line.
    private static let most = 64
    fileprivate nonisolated(unsafe) static let mappings: UnsafeMutableBufferPointer<Mapping> = {
        let mappings = UnsafeMutableBufferPointer<Mapping>.allocate(capacity: most)
        mappings.initialize(repeating: Mapping())
        return mappings
    }()
    /// A folder that is not to stay behind empty.
    fileprivate nonisolated(unsafe) static var folder: UnsafeMutablePointer<CChar>?
    fileprivate nonisolated(unsafe) static let before = UnsafeMutablePointer<sigaction>.allocate(capacity: 1)
    private static let lock = Mutex(false)

    /// - Parameter name: of the file, for the line.
    package static func add(_ bytes: UnsafeRawBufferPointer, _ name: String) {
        let text =
            "pushload: \(name): cut short while it was read; put another file in its place instead of writing into it\n"
        // A live view may be on the other screen, without a cursor.
        let screen = isatty(STDERR_FILENO) == 1 ? "\u{1B}[?1047l\u{1B}[?25h\r\u{1B}[K" : ""
        lock.withLock { isHandled in
            if !isHandled {
                isHandled = true
                var action = sigaction()
                action.__sigaction_handler.sa_sigaction = handleFault
                action.sa_flags = SA_SIGINFO
                before.initialize(to: sigaction())
                sigaction(SIGBUS, &action, before)
            }
            guard let place = mappings.firstIndex(where: { $0.line == nil }) else { return }
            let start = UInt(bitPattern: bytes.baseAddress)
            mappings[place] = Mapping(start: start, end: start + UInt(bytes.count), line: strdup(screen + text))
        }
    }

    /// - Parameter folder: of the run that goes on, which is removed with the process unless something is in it.
    package static func leave(_ folder: String) {
        lock.withLock { _ in
            let before = Self.folder
            Self.folder = strdup(folder)
            free(before)
        }
    }

    package static func remove(_ bytes: UnsafeRawBufferPointer) {
        lock.withLock { _ in
            let start = UInt(bitPattern: bytes.baseAddress)
            guard let place = mappings.firstIndex(where: { $0.line != nil && $0.start == start }) else { return }
            let line = mappings[place].line
            mappings[place] = Mapping()
            free(line)
        }
    }
}

private func handleFault(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?)
{
    let address = UInt(bitPattern: info?.pointee._sifields._sigfault.si_addr)
    for mapping in MappedFaults.mappings where address >= mapping.start && address < mapping.end {
        guard let line = mapping.line else { continue }
        _ = write(STDERR_FILENO, line, strlen(line))
        if let folder = MappedFaults.folder { rmdir(folder) }
        _exit(1)
    }
    // What raised it is tried again, and raises it again.
    sigaction(SIGBUS, MappedFaults.before, nil)
}
