#if NIO
    import Glibc
    import NIOCore
    import NIOHPACK
    import Transport

    /// The memory in which a worker's requests are composed, one at a time, and what NIO is given of them: strings and a
    /// buffer, as a user of NIO would.
    final class RequestComposer {
        private var request: PushRequest
        private let path: UnsafeMutablePointer<UInt8>
        private let payload: UnsafeMutablePointer<UInt8>
        private let identifier: UnsafeMutablePointer<UInt8>
        /// Of each kind of push: the pseudo-header fields that never change, and the other fields that never do.
        private let sets: [(pseudo: HPACKHeaders, fixed: HPACKHeaders)]
        private var authorizationBytes: [UInt8] = []
        private var authorization = ""
        private static let prefix = Array("/3/device/".utf8)

        init(
            authority: String, isSecure: Bool, headerSets: [[(String, String)]], tokenCapacity: Int,
            payloadCapacity: Int
        ) {
            path = .allocate(capacity: Self.prefix.count + tokenCapacity)
            path.update(from: Self.prefix, count: Self.prefix.count)
            payload = .allocate(capacity: payloadCapacity)
            identifier = .allocate(capacity: 36)
            request = PushRequest(token: path + Self.prefix.count, payload: payload, identifier: identifier)
            let pseudo = HPACKHeaders([
                (":method", "POST"), (":scheme", isSecure ? "https" : "http"), (":authority", authority),
            ])
            sets = headerSets.map { (pseudo, HPACKHeaders($0)) }
        }

        deinit {
            path.deallocate()
            payload.deallocate()
            identifier.deallocate()
        }

        /// Has the driver compose a push. The path and the push's id are kept out of the peer's dynamic table, as with
        /// the other engines: there they would drive out what repeats.
        func compose(
            _ ticket: PushTicket, driver: PushDriver, connection: Int, allocator: ByteBufferAllocator
        ) -> (HPACKHeaders, ByteBuffer) {
            driver.compose(ticket, connection: connection, into: &request)
            let set = sets[request.headerSet]
            var headers = set.pseudo
            headers.reserveCapacity(set.pseudo.count + set.fixed.count + 3)
            headers.add(
                name: ":path", value: text(path, Self.prefix.count + request.tokenLength), indexing: .nonIndexable)
            if let value = request.authorization { headers.add(name: "authorization", value: remembered(value)) }
            headers.add(contentsOf: set.fixed)
            if request.hasIdentifier {
                headers.add(name: "apns-id", value: text(identifier, 36), indexing: .nonIndexable)
            }
            var buffer = allocator.buffer(capacity: request.payloadLength)
            buffer.writeBytes(UnsafeRawBufferPointer(start: payload, count: request.payloadLength))
            return (headers, buffer)
        }

        private func text(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> String {
            String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }

        /// A provider token changes every half hour or so: its string is made once.
        private func remembered(_ value: UnsafeBufferPointer<UInt8>) -> String {
            guard let bytes = value.baseAddress else { return "" }
            if authorizationBytes.count != value.count || memcmp(authorizationBytes, bytes, value.count) != 0 {
                authorizationBytes = Array(value)
                authorization = String(decoding: value, as: UTF8.self)
            }
            return authorization
        }
    }
#endif
