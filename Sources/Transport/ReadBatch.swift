/// Lets answers gather before they are read, of servers that answer each push by itself, where every answer would wake the worker.
struct ReadBatch {
    /// For so long, ns; 0: they are read as they come.
    private let time: UInt64
    /// Answers read since the last wait, and when some were read last, ns.
    private var read: UInt64 = 0
    private var readAt: UInt64 = 0

    init(_ time: UInt64) { self.time = time }

    /// So many more answers were read.
    @inline(__always)
    mutating func took(_ count: UInt64) { read &+= count }

    /// How long a wait begins with nothing being looked at, ns: those that come by themselves, now and then, do not wait for others.
    ///
    /// - Parameters:
    ///   - timeout: of the wait, ns.
    ///   - isDue: a push is due at its end, which is not to be late for this.
    mutating func rest(_ now: UInt64, timeout: UInt64, isDue: Bool) -> UInt64 {
        guard time > 0, read > 0 else { return 0 }
        let comesMore = read > 1 || now &- readAt < 2 &* time
        (read, readAt) = (0, now)
        guard comesMore, time < timeout || !isDue else { return 0 }
        return min(time, timeout)
    }
}
