/// The memory of a session's requests that no request needs at the moment, and which requests may have their payload still in the read
/// buffer: lists through the requests themselves, so that no reference is counted for a push.
struct RequestStates: ~Copyable {
    /// The first of those that are free; the list owns them.
    private var free: Unmanaged<RequestState>?
    private var freeCount = 0
    /// Of requests, and the most of them at once since `settle`.
    private var inUse = 0
    private var mostInUse = 0
    /// Bytes of memory of those in use.
    private(set) var held = 0
    /// Between reads so many are kept, or as many as were needed beside those in use.
    private static let mostFree = 64
    /// Of these, those with memory for many headers.
    private var largeCount = 0
    private static let mostLarge = 4
    /// The first of those that borrow. None of them is freed while it is in the list.
    private var borrowing: Unmanaged<RequestState>?

    deinit {
        var left = free
        while let first = left {
            left = first._withUnsafeGuaranteedRef { $0.next }
            first.release()
        }
    }

    /// One for a request that begins, owned by the caller until `give`.
    @inline(__always)
    mutating func take() -> Unmanaged<RequestState> {
        inUse &+= 1
        if inUse > mostInUse { mostInUse = inUse }
        guard let first = free else {
            let made = Unmanaged.passRetained(RequestState())
            held &+= made._withUnsafeGuaranteedRef { Self.growth($0) }
            return made
        }
        let (next, isLarge, bytes) = first._withUnsafeGuaranteedRef { state in
            let next = state.next
            state.next = nil
            return (next, state.isLarge, Self.growth(state))
        }
        held &+= bytes
        free = next
        freeCount &-= 1
        if isLarge { largeCount = max(0, largeCount &- 1) }
        return first
    }

    /// Its request is over. It may still be looked at: memory too much is given back by `keepBorrowed`, when the read is over.
    @inline(__always)
    mutating func give(_ state: Unmanaged<RequestState>) {
        held &-= state._withUnsafeGuaranteedRef { state in
            let bytes = state.countedBytes
            state.countedBytes = 0
            return bytes
        }
        inUse &-= 1
        put(state)
    }

    @inline(__always)
    private mutating func put(_ state: Unmanaged<RequestState>) {
        let before = free
        let isLarge = state._withUnsafeGuaranteedRef { state in
            state.next = before
            return state.isLarge
        }
        free = state
        freeCount &+= 1
        if isLarge { largeCount &+= 1 }
    }

    /// It may have more memory than before.
    @inline(__always)
    mutating func note(_ state: RequestState) { held &+= Self.growth(state) }

    /// Bytes it has more than were counted, which they are now.
    @inline(__always)
    private static func growth(_ state: RequestState) -> Int {
        let (before, now) = (state.countedBytes, state.capacity)
        state.countedBytes = now
        return now &- before
    }

    /// Its payload lies in the read buffer.
    @inline(__always)
    mutating func borrows(_ state: RequestState) {
        guard !state.isBorrowing else { return }
        state.isBorrowing = true
        state.nextBorrowing = borrowing
        borrowing = .passUnretained(state)
    }

    /// The read buffer is about to change.
    mutating func keepBorrowed() {
        while let first = borrowing {
            let (next, bytes) = first._withUnsafeGuaranteedRef { state in
                let next = state.nextBorrowing
                state.nextBorrowing = nil
                state.isBorrowing = false
                guard state.stream != 0 else { return (next, 0) }
                state.keepBorrowed()
                return (next, Self.growth(state))
            }
            borrowing = next
            held &+= bytes
        }
        if largeCount > Self.mostLarge { dropLarge() }
        if freeCount > Self.mostFree { drop(downTo: max(Self.mostFree, mostInUse - inUse)) }
    }

    /// What was needed before is no sign of what will be: called now and then.
    mutating func settle() { mostInUse = inUse }

    private mutating func drop(downTo count: Int) {
        while freeCount > count, let first = free {
            free = first._withUnsafeGuaranteedRef { $0.next }
            freeCount -= 1
            first.release()
        }
    }

    private mutating func dropLarge() {
        var left = free
        (free, freeCount, largeCount) = (nil, 0, 0)
        while let first = left {
            left = first._withUnsafeGuaranteedRef { $0.next }
            if first._withUnsafeGuaranteedRef({ $0.isLarge }) { first.release() } else { put(first) }
        }
    }

    /// Nothing was asked for a while. Not while any of them borrows.
    mutating func dropAll() {
        drop(downTo: 0)
        largeCount = 0
    }

    /// Bytes of memory of those that are free.
    var memory: Int {
        var total = 0
        var next = free
        while let state = next {
            total += state._withUnsafeGuaranteedRef { $0.capacity }
            next = state._withUnsafeGuaranteedRef { $0.next }
        }
        return total
    }
}
