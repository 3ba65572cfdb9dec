import Payloads

@testable import MockAPNs
@testable import Signing

/// A push as its parts, for rules of a test's choice.
struct JudgedPush {
    static let now: Int64 = 1_700_000_000
    var headers: [KnownHeader: String] = [
        .method: "POST", .path: "/3/device/" + String(repeating: "ab", count: 32), .topic: "com.example.app",
    ]
    var body = "{\"aps\":{}}"

    init(_ headers: [KnownHeader: String] = [:], body: String = "{\"aps\":{}}") {
        self.headers.merge(headers) { $1 }
        self.body = body
    }

    /// The same, by this key.
    func signed(_ identity: ProviderIdentity, at time: Int64 = now) throws -> JudgedPush {
        var push = self
        push.headers[.authorization] = try TokenSigner.bearer(identity, unixTime: time)
        return push
    }

    func state() -> RequestState {
        let state = RequestState()
        for (header, value) in headers {
            Array(value.utf8).withUnsafeBufferPointer {
                state.set(header, $0.baseAddress ?? UnsafePointer(bitPattern: 1)!, $0.count)
            }
        }
        Array(body.utf8).withUnsafeBufferPointer { bytes in
            if let start = bytes.baseAddress { _ = state.append(start, bytes.count) }
            state.keepBorrowed()
        }
        return state
    }

    /// `200`, or the reason's name.
    func answer(
        _ checks: RequestChecks, _ client: inout RequestChecks.Client, at time: Int64 = now
    ) -> String {
        switch checks.judge(state(), client: &client, unixTime: time, now: 0) {
        case .accepted: "200"
        case .rejected(let answer): answer.reason?.name ?? "none"
        }
    }

    func answer(_ checks: RequestChecks, _ client: RequestChecks.Client = .init()) -> String {
        var client = client
        return answer(checks, &client)
    }
}

extension RequestChecks {
    /// Rules for a test.
    static func made(
        _ accounts: [ProviderAccount] = [], topics: Set<String>? = nil,
        _ change: (inout RequestRules) -> Void = { _ in }
    ) -> RequestChecks {
        var rules = RequestRules()
        change(&rules)
        return RequestChecks(
            topics: topics, directory: DeviceDirectory(.everybody, startedAt: 0, startTime: 0),
            tokens: TokenCache(accounts, updates: TokenUpdates(.connection)), rules: rules)
    }
}
