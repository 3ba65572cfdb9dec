import Devices

/// What is sent for a request.
struct EchoContent {
    let url: String
    /// Of a POST, JSON; nil: it is a GET.
    let body: [UInt8]?
}

/// What waiting requests ask for. All silent pushes have one path, which is kept once, at place 0.
struct EchoContents {
    static let common: UInt32 = 0
    private var items: [EchoContent?] = [nil]
    private var free: [UInt32] = []
    private var commonPath: String?

    /// Those that are kept, without the common one.
    var count: Int { items.count - 1 - free.count }

    subscript(place: UInt32) -> EchoContent { items[Int(place)]! }

    /// The place of what a request asks for.
    ///
    /// - Throws: why it is never sent.
    mutating func keep(_ request: EchoRequest, _ writer: EchoContentWriter) throws(EchoContentWriter.Refusal) -> UInt32
    {
        if request.kind == .fetch {
            if request.path == commonPath { return Self.common }
            if commonPath == nil {
                items[0] = try writer.content(request)
                commonPath = request.path
                return Self.common
            }
        }
        let content = try writer.content(request)
        guard let place = free.popLast() else {
            items.append(content)
            return UInt32(items.count - 1)
        }
        items[Int(place)] = content
        return place
    }

    mutating func giveBack(_ place: UInt32) {
        guard place != Self.common else { return }
        items[Int(place)] = nil
        free.append(place)
    }
}
