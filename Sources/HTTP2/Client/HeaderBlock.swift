import CNghttp2

/// A list of header fields in the form nghttp2 takes, owned here; values may point to the caller's memory.
///
/// Fixed fields are copied in once. The value of a variable field is set before each use and must stay valid until the
/// block has been serialised, which for a request is within `NGHTTP2Session.send`.
final class HeaderBlock {
    private(set) var fields: UnsafeMutablePointer<nghttp2_nv>
    private(set) var count = 0
    private let capacity: Int
    private var owned: [UnsafeMutablePointer<UInt8>] = []

    /// Room for up to `capacity` fields.
    init(capacity: Int) {
        self.capacity = capacity
        fields = .allocate(capacity: capacity)
    }

    deinit {
        fields.deallocate()
        for text in owned { text.deallocate() }
    }

    private func copy(_ text: String) -> (UnsafeMutablePointer<UInt8>, Int) {
        let bytes = Array(text.utf8)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        memory.update(from: bytes, count: bytes.count)
        owned.append(memory)
        return (memory, bytes.count)
    }

    /// Adds a field whose name and value never change; `indexed` false keeps it out of the peer's dynamic table.
    @discardableResult
    func add(_ name: String, _ value: String, indexed: Bool = true) -> Int {
        let index = addVariable(name, indexed: indexed)
        let (pointer, length) = copy(value)
        fields[index].value = pointer
        fields[index].valuelen = length
        return index
    }

    /// Adds a field whose value `setValue` gives before each use; returns its place.
    func addVariable(_ name: String, indexed: Bool) -> Int {
        precondition(count < capacity, "a header block of \(capacity) fields is full")
        let (pointer, length) = copy(name)
        var flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
        if !indexed { flags |= UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) }
        fields[count] = nghttp2_nv(name: pointer, value: pointer, namelen: length, valuelen: 0, flags: flags)
        count += 1
        return count - 1
    }

    /// Points field `index` to `value`; nothing is copied.
    @inline(__always)
    func setValue(_ index: Int, _ value: UnsafePointer<UInt8>, _ length: Int) {
        fields[index].value = UnsafeMutablePointer(mutating: value)
        fields[index].valuelen = length
    }
}
