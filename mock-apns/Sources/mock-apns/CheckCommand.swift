import ArgumentParser
import Foundation
import MockAPNs
import Signing

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Judge one push from a file: what APNs would answer, and why.",
        discussion: """
            The file holds the request as HTTP/1 would write it: POST /3/device/<token>, header lines, an empty line, the \
            payload. A file that begins with { is a payload alone. Without --credentials or --keys a provider token is judged by \
            all but its key, team and signature. Exit status: 0 accepted, 1 rejected or without effect, 64 unreadable.
            """)

    @Argument(help: ArgumentHelp("The push; - for standard input.", valueName: "file"))
    var file: String

    @Option(
        help: ArgumentHelp(
            "Folder whose provider key the authorization header is checked against.", valueName: "folder"))
    var credentials: String?

    @Option(help: ArgumentHelp("Provider keys the authorization header is checked against (YAML).", valueName: "file"))
    var keys: String?

    @Option(
        name: .customLong("topic"),
        help: ArgumentHelp("Bundle id a push may be for; may be given several times. Default: any.", valueName: "id"))
    var topics: [String] = []

    @Option(help: ArgumentHelp("production or development.", valueName: "environment"))
    var environment = "production"

    @OptionGroup(title: "Rules") var rules: RuleOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    private struct Document: Encodable {
        let status: Int
        let reason: String?
        let explanation: [String]
        let warnings: [String]?
        let payloadBytes: Int
        let payloadLimit: Int

        enum CodingKeys: String, CodingKey {
            case status, reason, explanation, warnings
            case payloadBytes = "payload_bytes"
            case payloadLimit = "payload_limit"
        }
    }

    func run() throws {
        let outcome: OfflineCheck.Outcome
        do {
            let keyFile = try keys.map { try KeyFile($0) }
            var accounts = keyFile?.accounts ?? []
            if let credentials {
                guard !credentials.isEmpty else { throw Misuse("--credentials: expected a folder, not an empty text") }
                let account = ProviderAccount(try Credentials.load(directory: credentials).identity)
                accounts.append(keyFile?.placed(account) ?? account)
            }
            if let keys, accounts.isEmpty { throw Misuse("\(keys): keys: expected at least one") }
            let check = OfflineCheck(
                accounts: accounts, topics: topics.isEmpty ? nil : try bundleIDs("--topic", topics),
                environment: try reading("--environment", environment, FaultText.environment), rules: try rules.rules())
            let bytes =
                file == "-" ? Array(FileHandle.standardInput.readDataToEndOfFile()) : try Credentials.read(file)
            outcome = try check.judge(bytes, file: file)
        } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(64)
        }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let document = Document(
                status: outcome.status, reason: outcome.reason, explanation: outcome.explanation,
                warnings: outcome.warnings.isEmpty ? nil : outcome.warnings,
                payloadBytes: outcome.payloadBytes, payloadLimit: outcome.payloadLimit)
            if let data = try? encoder.encode(document) { Output.line(String(decoding: data, as: UTF8.self)) }
        } else {
            Output.line("\(outcome.status)\(outcome.reason.map { " \($0)" } ?? " accepted")")
            for line in outcome.warnings + outcome.explanation { Output.line("  \(line)") }
            Output.line("  payload \(outcome.payloadBytes) of at most \(outcome.payloadLimit) bytes")
        }
        if outcome.reason != nil || !outcome.warnings.isEmpty { throw ExitCode(1) }
    }
}
