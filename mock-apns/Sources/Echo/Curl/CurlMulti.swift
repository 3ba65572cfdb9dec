import CCurl
import Networking

/// libcurl's multi handle on an event loop: which sockets it waits for, and when it wants to be called. It belongs to the echo's thread.
final class CurlMulti {
    private let handle: UnsafeMutableRawPointer
    private let reactor: Reactor
    let served = ServedSocket()
    /// When it wants to be called though nothing came, ns; `UInt64.max`: not at all.
    fileprivate(set) var due = UInt64.max

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Before 8.0 libcurl fails where a request is to use a connection of HTTP/2 by prior knowledge that there is already (its issue 10634).
    static let sharesPriorConnections = curl_version_info(CURLVERSION_FIRST).pointee.version_num >= 0x08_0000

    init(_ reactor: Reactor, places: Int, multiplexes: Bool) throws(EchoError) {
        guard Self.isReady, let handle = curl_multi_init() else { throw EchoError("libcurl cannot be used: no memory") }
        self.handle = handle
        self.reactor = reactor
        let context = Unmanaged.passUnretained(self).toOpaque()
        pushload_curl_multi_set_pointer(handle, CURLMOPT_SOCKETDATA, context)
        pushload_curl_multi_set_pointer(handle, CURLMOPT_TIMERDATA, context)
        pushload_curl_multi_set_socket(handle, watchSocket)
        pushload_curl_multi_set_timer(handle, planCall)
        pushload_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, places)
        pushload_curl_multi_set_long(handle, CURLMOPT_PIPELINING, multiplexes ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING)
    }

    deinit {
        // The loop is over, and closed sockets leave it by themselves.
        pushload_curl_multi_set_socket(handle, nil)
        pushload_curl_multi_set_timer(handle, nil)
        curl_multi_cleanup(handle)
    }

    /// - Returns: false: no memory.
    func add(_ transfer: CurlTransfer) -> Bool { curl_multi_add_handle(handle, transfer.handle) == CURLM_OK }

    /// Ends it, where it has not ended.
    func remove(_ transfer: CurlTransfer) { curl_multi_remove_handle(handle, transfer.handle) }

    /// A descriptor is ready.
    func take(_ event: ReadyEvent) {
        var what: Int32 = 0
        if event.readiness.contains(.readable) { what |= CURL_CSELECT_IN }
        if event.readiness.contains(.writable) { what |= CURL_CSELECT_OUT }
        if !event.readiness.isDisjoint(with: .closed) { what |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        let descriptor = curl_socket_t(truncatingIfNeeded: event.token)
        served.begin(descriptor, now: MonotonicClock.now())
        curl_multi_socket_action(handle, descriptor, what, &running)
        served.end()
    }

    /// Does what is due.
    func doWhatIsDue(_ now: UInt64) {
        guard now >= due else { return }
        due = .max
        var running: Int32 = 0
        curl_multi_socket_action(handle, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// A transfer that has ended: its place, and how.
    func nextEnded() -> (slot: Int, result: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            var place: UnsafeMutableRawPointer?
            pushload_curl_get_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &place)
            return (Int(bitPattern: place) - 1, message.pointee.data.result)
        }
        return nil
    }

    fileprivate func watch(_ descriptor: curl_socket_t, _ what: Int32) {
        if what == CURL_POLL_REMOVE { return reactor.forget(descriptor) }
        var interest: Readiness = []
        if what & CURL_POLL_IN != 0 { interest.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { interest.insert(.writable) }
        reactor.watch(descriptor, token: UInt64(truncatingIfNeeded: descriptor), interest: interest)
    }

    fileprivate func setTimer(_ milliseconds: Int) {
        due = milliseconds < 0 ? .max : MonotonicClock.now() &+ UInt64(milliseconds) &* 1_000_000
    }
}

private func watchSocket(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ own: UnsafeMutableRawPointer?
) -> Int32 {
    Unmanaged<CurlMulti>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.watch(descriptor, what) }
    return 0
}

private func planCall(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    Unmanaged<CurlMulti>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.setTimer(milliseconds) }
    return 0
}
