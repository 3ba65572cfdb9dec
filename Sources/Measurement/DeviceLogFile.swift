import Glibc

/// Reads device logs.
package enum DeviceLogFile {
    /// Bytes read at once.
    private static let blockLength = 1 << 20

    /// Gives what a log says of one run, piece by piece: memory does not grow with it.
    ///
    /// - Parameters:
    ///   - names: is given the outcomes' names, by code, before anything else.
    ///   - body: is given a push's number, what it did, and when (nanoseconds of the machine's monotonic clock; 0: not by the end).
    /// - Returns: pushes that the mock took and the log does not have, of whatever run.
    /// - Throws: one line when the file is missing or foreign, or holds other runs only; when it is truncated or was never completed
    ///   (its mock was killed), after `body` was given its last whole record.
    @discardableResult
    package static func read(
        _ path: String, run: UInt64, names: ([String]) -> Void,
        _ body: (_ sequence: UInt64, _ event: DeviceLog.Event, _ time: UInt64) -> Void
    ) throws(DeviceLog.Failure) -> UInt64 {
        guard let file = fopen(path, "r") else { throw unreadable(path) }
        defer { fclose(file) }
        let outcomes = try head(file, path)
        names(outcomes)
        var reading = Reading(path: path, run: run, outcomes: outcomes.count)
        var block = [UInt8](repeating: 0, count: blockLength)
        var rest = 0
        while true {
            let count = fread(&block, 1, block.count, file)
            if count < block.count, ferror(file) != 0 { throw unreadable(path) }
            rest = count % DeviceLog.recordLength
            for start in stride(from: 0, to: count - rest, by: DeviceLog.recordLength) {
                let (first, second) = block.withUnsafeBytes {
                    (
                        UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt64.self)),
                        UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self))
                    )
                }
                try reading.take(first, second, body)
            }
            if count < block.count { break }
        }
        guard rest == 0, let unlogged = reading.unlogged else {
            throw DeviceLog.Failure(description: "\(path): the device log is truncated")
        }
        guard reading.isFound || reading.runs.isEmpty else {
            throw DeviceLog.Failure(description: "\(path): device log of another run")
        }
        return unlogged
    }

    /// What was read so far.
    private struct Reading {
        let path: String
        let run: UInt64
        let outcomes: Int
        /// By their places.
        var runs: [Int: UInt64] = [:]
        /// Whose records are given, by place.
        private var wanted = [Bool](repeating: false, count: 256)
        /// nil: the end was not met.
        var unlogged: UInt64?
        var isFound = false

        init(path: String, run: UInt64, outcomes: Int) {
            self.path = path
            self.run = run
            self.outcomes = outcomes
        }

        mutating func take(
            _ first: UInt64, _ second: UInt64, _ body: (UInt64, DeviceLog.Event, UInt64) -> Void
        ) throws(DeviceLog.Failure) {
            let (code, place, sequence) = (UInt8(truncatingIfNeeded: first), Int(first >> 8 & 255), first >> 16)
            let event: DeviceLog.Event
            switch code {
            case DeviceLog.runCode:
                guard sequence < 256 else { throw damaged() }
                runs[Int(sequence)] = second
                wanted[Int(sequence)] = second == run
                isFound = isFound || second == run
                return
            case DeviceLog.endCode:
                unlogged = second
                return
            case DeviceLog.contentCode: event = .content
            case DeviceLog.noContentCode: event = .noContent
            default:
                guard Int(code) < outcomes else { throw damaged() }
                event = .outcome(Int(code))
            }
            if wanted[place] {
                body(sequence, event, second)
            } else if runs[place] == nil {
                throw damaged()
            }
        }

        private func damaged() -> DeviceLog.Failure {
            DeviceLog.Failure(description: "\(path): the device log is damaged")
        }
    }

    private static func head(
        _ file: UnsafeMutablePointer<FILE>, _ path: String
    ) throws(DeviceLog.Failure) -> [String] {
        let foreign = DeviceLog.Failure(description: "\(path): not a device log")
        var magic = [UInt8](repeating: 0, count: DeviceLog.magic.count)
        guard fread(&magic, 1, magic.count, file) == magic.count, magic == DeviceLog.magic else { throw foreign }
        var length: UInt64 = 0
        let truncated = DeviceLog.Failure(description: "\(path): the device log is truncated")
        guard fread(&length, 8, 1, file) == 1 else { throw truncated }
        guard UInt64(littleEndian: length) <= UInt64(DeviceLog.longestNames) else { throw foreign }
        var text = [UInt8](repeating: 0, count: Int(UInt64(littleEndian: length)))
        guard fread(&text, 1, text.count, file) == text.count else { throw truncated }
        let names = String(decoding: text, as: UTF8.self).split(separator: ",").map(String.init)
        guard names.count <= Int(DeviceLog.contentCode) else { throw foreign }
        return names
    }

    private static func unreadable(_ path: String) -> DeviceLog.Failure {
        DeviceLog.Failure(description: "cannot read the device log \(path): \(String(cString: strerror(errno)))")
    }
}
