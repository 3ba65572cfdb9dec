import Synchronization

/// Counters of one worker in memory of their own: no other worker's data are in their cache lines, which would then go to and fro
/// between the cores with every count.
struct OwnCounters: ~Copyable, @unchecked Sendable {
    /// Two lines of 64 bytes: processors fetch them in pairs.
    private static let lines = 128
    private let memory: UnsafeMutablePointer<Atomic<UInt64>>
    private let count: Int

    init(count: Int) {
        let bytes = count * MemoryLayout<Atomic<UInt64>>.stride
        memory = UnsafeMutableRawPointer.allocate(
            byteCount: (bytes + Self.lines - 1) / Self.lines * Self.lines, alignment: Self.lines
        ).bindMemory(to: Atomic<UInt64>.self, capacity: count)
        self.count = count
        for place in 0..<count { (memory + place).initialize(to: Atomic(0)) }
    }

    deinit { UnsafeMutableRawPointer(memory).deallocate() }

    /// By the owner alone, so that a plain load and store is enough.
    @inline(__always)
    func add(_ number: UInt64, at place: Int) {
        memory[place].store(memory[place].load(ordering: .relaxed) &+ number, ordering: .relaxed)
    }

    func value(at place: Int) -> UInt64 { memory[place].load(ordering: .relaxed) }

    /// Begins anew. By the owner.
    func restart() {
        for place in 0..<count { memory[place].store(0, ordering: .relaxed) }
    }
}
