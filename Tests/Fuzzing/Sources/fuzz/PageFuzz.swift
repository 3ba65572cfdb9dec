import Logging
import Networking

@testable import Devices
@testable import MockAPNs
@testable import PlainHTTP

/// Requests to the admin listener, taken as far as their answers: devices are changed and used by hand, pushes and counts are listed.
/// `PUT /faults` is left to the target `faults`: a plan may have the server stall, as it should.
enum PageFuzz {
    nonisolated(unsafe) private static var taken = 0

    private static let server: MockServer = {
        var configuration = MockConfiguration()
        configuration.deviceModel = try! DeviceModelFile.named("on")
        configuration.adminPort = 0
        return try! MockServer(configuration, logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
    }()

    static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard case .request(let request, let used) = PlainRequest.parse(Array(bytes)) else { return }
        precondition(used <= bytes.count)
        _ = HostRule().refusal(request)
        guard AdminPages.refusal(request, RequestRules()) == nil, request.path != "/events", request.path != "/faults"
        else { return }
        let answer = AdminPages(server: server, watchers: .init(subscribers: 0, waiting: 0)).answer(request)
        precondition((200..<600).contains(answer.status))
        // What it keeps of devices does not become all there is.
        taken += 1
        if taken % 1000 == 0 { server.reset() }
    }
}
