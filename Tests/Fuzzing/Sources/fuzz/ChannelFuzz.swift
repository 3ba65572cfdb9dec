@testable import MockAPNs

/// The body of a request that makes a channel, and of a broadcast to it.
enum ChannelFuzz {
    nonisolated(unsafe) private static let checks = RequestChecks(
        topics: nil, directory: DeviceDirectory(.everybody, startedAt: 0, startTime: 0),
        tokens: TokenCache([], updates: TokenUpdates(.off)))

    static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        let requests = ChannelRequests(checks: checks, channels: ChannelDirectory(limit: 2, enabled: nil))
        var client = RequestChecks.Client()
        let made = requests.manage(
            state(.post, "/1/apps/com.example.app/channels", bytes), client: &client, unixTime: 1_700_000_000)
        guard let channel = made.headers.first(where: { $0.name == "apns-channel-id" })?.value else {
            precondition(made.reason != nil)
            return
        }
        precondition(made.status == 201)
        let shown = state(.get, "/1/apps/com.example.app/channels", bytes, channel: channel)
        precondition(requests.manage(shown, client: &client, unixTime: 1_700_000_000).status == 200)
        let push = state(.post, "/4/broadcasts/apps/com.example.app", bytes, channel: channel)
        _ = requests.broadcast(push, client: &client, unixTime: 1_700_000_000, milliseconds: 0) { _ in }
    }

    private enum Method: String { case get = "GET", post = "POST" }

    private static func state(
        _ method: Method, _ path: String, _ body: UnsafeBufferPointer<UInt8>, channel: String? = nil
    ) -> RequestState {
        let state = RequestState()
        var headers: [(KnownHeader, String)] = [(.method, method.rawValue), (.path, path)]
        if let channel { headers += [(.channelID, channel), (.pushType, "liveactivity")] }
        for (header, value) in headers {
            Array(value.utf8).withUnsafeBufferPointer { state.set(header, $0.baseAddress!, $0.count) }
        }
        if let start = body.baseAddress, !body.isEmpty { _ = state.append(start, body.count) }
        return state
    }
}
