import Payloads

/// What the header fields of a request say, `:path` apart, while those of the connection's next ones are the same (`ServerSession`'s
/// `didEndHeaders`). One session's.
final class HeaderPattern {
    /// Which one it is: no other of the session has the same; 0: there is none.
    @exclusivity(unchecked) private(set) var number: UInt32 = 0
    /// What its fields say, once they have been found right by all rules that look at nothing else of a request; nil before.
    @exclusivity(unchecked) var right: (type: PushType, priority: Int)?
    /// As in `RequestState`.
    let ranges: UnsafeMutablePointer<HeaderRange>
    private(set) var values: UnsafeMutablePointer<UInt8>?
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private(set) var hasKnownToken = false

    init() {
        ranges = .allocate(capacity: KnownHeader.count)
        ranges.initialize(repeating: HeaderRange(), count: KnownHeader.count)
    }

    deinit {
        values?.deallocate()
        ranges.deallocate()
    }

    /// Bytes of values it may have.
    static let mostBytes = 512

    /// Takes those of a request.
    ///
    /// - Parameter number: its own.
    /// - Returns: false when they are too long; it is then what it was.
    func take(_ state: RequestState, number: UInt32) -> Bool {
        var needed = 0
        for place in 0..<KnownHeader.count where place != KnownHeader.path.rawValue {
            needed += state.value(KnownHeader(rawValue: place)!).count
        }
        guard needed <= Self.mostBytes else { return false }
        if values == nil { values = .allocate(capacity: Self.mostBytes) }
        self.number = number
        right = nil
        hasKnownToken = state.hasKnownToken
        count = 0
        for place in 0..<KnownHeader.count {
            let header = KnownHeader(rawValue: place)!
            ranges[place] = HeaderRange()
            guard header != .path, state.has(header) else { continue }
            let value = state.value(header)
            UnsafeMutableRawBufferPointer(start: values! + count, count: value.count).copyMemory(from: value)
            ranges[place] = HeaderRange(offset: Int32(count), length: Int32(value.count))
            count += value.count
        }
        return true
    }

    /// Gives its memory back; no request is like it any more.
    func forget() {
        values?.deallocate()
        (values, number, right, count) = (nil, 0, nil, 0)
    }
}
