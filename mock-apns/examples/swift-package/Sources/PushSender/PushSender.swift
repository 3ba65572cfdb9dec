import Foundation

/// Sends pushes with curl: stands for the client that you would test.
public struct PushSender {
    /// Such as `https://api.push.apple.com`.
    public let server: String
    /// The value of `authorization`: `bearer …`.
    public let token: String
    public let topic: String
    /// A PEM file of certificates to trust.
    public let trusted: String

    public init(server: String, token: String, topic: String, trusted: String) {
        self.server = server
        self.token = token
        self.topic = topic
        self.trusted = trusted
    }

    /// curl's exit status where it got no answer; it has said why on standard error.
    public struct NoAnswer: Error { public let status: Int32 }

    /// Pushes a payload to a device.
    ///
    /// - Returns: the status and the body of the answer, which is empty where the push was accepted.
    /// - Throws: when there is no answer.
    public func send(_ payload: String, to device: String) throws -> (status: Int, body: String) {
        let curl = Process()
        let output = Pipe()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        curl.arguments = [
            "--silent", "--show-error", "--http2", "--cacert", trusted, "--write-out", "\n%{http_code}", "-H",
            "authorization: \(token)", "-H", "apns-topic: \(topic)", "-H", "apns-push-type: alert", "-d", payload,
            "\(server)/3/device/\(device)",
        ]
        curl.standardOutput = output
        try curl.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        curl.waitUntilExit()
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard curl.terminationStatus == 0, let status = lines.last.flatMap({ Int($0) }) else {
            throw NoAnswer(status: curl.terminationStatus)
        }
        return (status, lines.dropLast().joined(separator: "\n"))
    }
}
