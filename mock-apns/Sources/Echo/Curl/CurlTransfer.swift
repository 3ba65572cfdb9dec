import CCurl
import Glibc
import Networking

/// One easy handle of libcurl, used for one request after the other. It belongs to the echo's thread.
final class CurlTransfer {
    let handle: UnsafeMutableRawPointer
    /// Its place among the transfers.
    let slot: Int
    /// The request that it is under way for; nil: it is free.
    var ask: Ask?

    // What has come of the attempt so far; libcurl's callbacks write it.
    fileprivate(set) var bodyBytes = 0
    fileprivate(set) var headBytes = 0
    /// How often the request was begun to be sent: libcurl would begin once more on another connection by itself.
    fileprivate(set) var sends = 0
    fileprivate(set) var isBodyTooLong = false
    fileprivate(set) var isHeadTooLong = false
    fileprivate var connections: UInt64 = 0
    fileprivate var hasOpened = false

    fileprivate let longestBody: Int
    fileprivate let longestHead: Int
    fileprivate let addresses: [[UInt8]]
    private let lists: CurlLists
    private var sentContent: UInt32?
    private var isPost = false

    /// nil: no memory.
    init?(_ configuration: EchoConfiguration, _ lists: CurlLists, slot: Int) {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        self.slot = slot
        self.lists = lists
        longestBody = configuration.longestBody
        longestHead = configuration.longestHead
        addresses = configuration.target.addresses.map(\.bytes)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_TCP_NODELAY, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_DNS_CACHE_TIMEOUT, -1)
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "*")
        set(CURLOPT_PROTOCOLS_STR, configuration.target.isSecure ? "https" : "http")
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        if let file = configuration.certificates { set(CURLOPT_CAINFO, file) }
        let version: Int
        switch configuration.version {
        case .one: version = CURL_HTTP_VERSION_1_1
        case .two where !configuration.target.isSecure: version = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        case .two, .automatic: version = CURL_HTTP_VERSION_2TLS
        }
        set(CURLOPT_HTTP_VERSION, version)
        if configuration.closesConnections {
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
        }
        if let addresses = lists.addresses { pushload_curl_set_pointer(handle, CURLOPT_RESOLVE, addresses) }
        pushload_curl_set_pointer(handle, CURLOPT_HTTPHEADER, lists.getHeads)
        pushload_curl_set_pointer(handle, CURLOPT_PRIVATE, UnsafeRawPointer(bitPattern: slot + 1))
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA] {
            pushload_curl_set_pointer(handle, option, context)
        }
        pushload_curl_set_writer(handle, CURLOPT_WRITEFUNCTION, takeBody)
        pushload_curl_set_writer(handle, CURLOPT_HEADERFUNCTION, takeHead)
        pushload_curl_set_opener(handle, openSocket)
        pushload_curl_set_prerequest(handle, willSend)
    }

    deinit { curl_easy_cleanup(handle) }

    private func set(_ option: CURLoption, _ value: Int) { pushload_curl_set_long(handle, option, value) }
    private func set(_ option: CURLoption, _ text: String) {
        _ = text.withCString { pushload_curl_set_pointer(handle, option, $0) }
    }

    /// Makes it ready for an attempt.
    func prepare(_ ask: Ask, _ contents: EchoContents) {
        self.ask = ask
        (bodyBytes, headBytes, sends, isBodyTooLong, isHeadTooLong) = (0, 0, 0, false, false)
        hasOpened = false
        guard ask.content != EchoContents.common || sentContent != ask.content else { return }
        sentContent = ask.content
        let content = contents[ask.content]
        set(CURLOPT_URL, content.url)
        if let body = content.body {
            set(CURLOPT_POST, 1)
            set(CURLOPT_POSTFIELDSIZE, body.count)
            _ = body.withUnsafeBytes { pushload_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
            pushload_curl_set_pointer(handle, CURLOPT_HTTPHEADER, lists.postHeads)
            isPost = true
        } else if isPost {
            set(CURLOPT_HTTPGET, 1)
            pushload_curl_set_pointer(handle, CURLOPT_HTTPHEADER, lists.getHeads)
            isPost = false
        }
    }

    // MARK: How the attempt ended

    /// Those that were made for requests since it was last asked.
    func takeConnections() -> UInt64 {
        defer { connections = 0 }
        return connections
    }

    /// Of the answer; 0: none came.
    var status: Int { number(CURLINFO_RESPONSE_CODE) }
    /// 0: the system has said nothing.
    var systemError: Int32 { Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO)) }
    var isHTTP2: Bool { number(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2_0 }
    /// Seconds; 0: not said.
    var retryAfter: Int {
        var value: curl_off_t = 0
        pushload_curl_get_size(handle, CURLINFO_RETRY_AFTER, &value)
        return max(0, Int(value))
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        pushload_curl_get_long(handle, info, &value)
        return value
    }
}

private func transfer<Answer>(_ context: UnsafeMutableRawPointer?, _ body: (CurlTransfer) -> Answer) -> Answer {
    Unmanaged<CurlTransfer>.fromOpaque(context!)._withUnsafeGuaranteedRef(body)
}

/// A part of a body: counted, and thrown away. Fewer bytes taken than came end the transfer.
private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context) { transfer in
        transfer.bodyBytes &+= size &* count
        if transfer.bodyBytes <= transfer.longestBody { return size &* count }
        transfer.isBodyTooLong = true
        return 0
    }
}

/// A line of a head.
private func takeHead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context) { transfer in
        transfer.headBytes &+= size &* count
        if transfer.headBytes <= transfer.longestHead { return size &* count }
        transfer.isHeadTooLong = true
        return 0
    }
}

/// A socket to one of the addresses that were looked at, and to no other.
private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    transfer(context) { transfer in
        guard let address, let known = withUnsafePointer(to: &address.pointee.addr, { SocketAddress($0) }),
            transfer.addresses.contains(known.bytes)
        else { return CURL_SOCKET_BAD }
        transfer.hasOpened = true
        return socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
    }
}

/// A connection is there, and the request is about to be sent on it: once an attempt.
private func willSend(
    _ context: UnsafeMutableRawPointer?, _ peer: UnsafeMutablePointer<CChar>?, _ own: UnsafeMutablePointer<CChar>?,
    _ peerPort: Int32, _ ownPort: Int32
) -> Int32 {
    transfer(context) { transfer in
        if transfer.hasOpened {
            transfer.hasOpened = false
            transfer.connections &+= 1
        }
        transfer.sends += 1
        return transfer.sends > 1 ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK
    }
}
