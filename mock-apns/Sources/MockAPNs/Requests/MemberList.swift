import Devices

/// Where the members of the payload stand that was judged last, for the device that gets it. One thread's.
final class MemberList {
    /// Members that are listed; of a payload with more none are.
    static let capacity = 64
    let memory: UnsafeMutablePointer<PayloadMember>
    @exclusivity(unchecked) private var count = 0

    init() {
        memory = .allocate(capacity: Self.capacity)
        memory.initialize(repeating: PayloadMember(), count: Self.capacity)
    }

    deinit { memory.deallocate() }

    func clear() { count = 0 }
    func fill(_ count: Int) { self.count = count <= Self.capacity ? count : 0 }

    /// Empty: not known.
    var found: UnsafeBufferPointer<PayloadMember> { UnsafeBufferPointer(start: memory, count: count) }
}
