import HTTP2

/// A request on a stream of HTTP/2, from its header fields to the last byte of its answer.
final class FramedRequest {
    private enum Known: UInt8, CaseIterable {
        case host = 1
        case origin, accept, authorization, contentType

        static func named(_ name: UnsafeBufferPointer<UInt8>) -> Known? {
            switch name.count {
            case 4: name.elementsEqual("host".utf8) ? .host : nil
            case 6:
                name.elementsEqual("origin".utf8) ? .origin : name.elementsEqual("accept".utf8) ? .accept : nil
            case 12: name.elementsEqual("content-type".utf8) ? .contentType : nil
            case 13: name.elementsEqual("authorization".utf8) ? .authorization : nil
            default: nil
            }
        }
    }

    enum State { case gathering, taken, answered }

    let stream: Int32
    var state = State.gathering
    /// When its time is over, monotonic ns.
    var due: UInt64
    /// Bytes of memory that it holds.
    var held = 0
    /// Why it is refused: a status, and what is wrong.
    private(set) var problem: (status: Int, text: String)?
    private(set) var body: [UInt8] = []
    private(set) var isHead = false
    /// The answer's body, and how much of it is gone.
    var answer: [UInt8] = []
    var sent = 0

    private var head = 0
    private var method = ""
    private var target = ""
    private var authority: String?
    private var fields: [Known: String] = [:]

    init(stream: Int32, due: UInt64) {
        self.stream = stream
        self.due = due
    }

    /// For the session: which header fields are looked at.
    static func classify(_ name: UnsafePointer<UInt8>, _ length: Int) -> UInt8 {
        Known.named(UnsafeBufferPointer(start: name, count: length))?.rawValue ?? 0
    }

    func refuse(_ status: Int, _ text: String) {
        if problem == nil { problem = (status, text) }
    }

    /// - Returns: bytes that it holds more.
    func take(_ field: HPACKField, limits: PlainLimits) -> Int {
        head += field.nameLength + field.valueLength
        guard head <= PlainRequest.largestHead else {
            refuse(431, "the request's head is larger than 16 KiB")
            return 0
        }
        let known = Known(rawValue: field.mark)
        let ruled = [HeaderMark.method, HeaderMark.path, HeaderMark.authority, HeaderMark.contentLength]
        guard known != nil || ruled.contains(field.mark) else { return 0 }
        let bytes = UnsafeBufferPointer(start: field.value, count: field.valueLength)
        guard !bytes.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7F }) else {
            refuse(400, "a control character in the request's head")
            return 0
        }
        let value = String(decoding: bytes, as: UTF8.self)
        switch field.mark {
        case HeaderMark.method:
            method = value
            isHead = value == "HEAD"
        case HeaderMark.path:
            target = value
            if !value.hasPrefix("/") || value.contains(" ") { refuse(400, "expected a path such as /stats") }
        case HeaderMark.authority: authority = value
        case HeaderMark.contentLength:
            // The session has looked at its digits.
            if (Int(value) ?? .max) > limits.body {
                refuse(413, "the body is larger than \(PlainRequest.sizeText(limits.body))")
            }
        default:
            guard let known else { break }
            let isTwice = fields.updateValue(value, forKey: known) != nil
            if isTwice, known != .accept, known != .contentType { refuse(400, "more than one header of a kind") }
        }
        return field.valueLength
    }

    func append(_ bytes: UnsafeBufferPointer<UInt8>, limits: PlainLimits) {
        guard problem == nil else { return }
        if body.count + bytes.count > limits.body {
            refuse(413, "the body is larger than \(PlainRequest.sizeText(limits.body))")
            body = []
        } else {
            body += bytes
        }
    }

    /// The request, whose body is its own then.
    func request() -> PlainRequest {
        var request = PlainRequest(method[...], target[...])
        request.body = body
        body = []
        request.host = authority ?? fields[.host]
        request.origin = fields[.origin]
        request.accept = fields[.accept]
        request.authorization = fields[.authorization]
        request.contentType = fields[.contentType]
        return request
    }
}
