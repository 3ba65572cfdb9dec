import ArgumentParser
import Exam
import Foundation
import Glibc
import Networking
import Settings
import Signing

struct ExamCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exam",
        abstract: "Examine an APNs client: play what Apple may do to it, and judge what it does.",
        discussion: """
            Starts COMMAND once a situation; it is to send one push to each device token and end. The environment tells it where: \
            EXAM_URL (also EXAM_HOST, EXAM_PORT), EXAM_CA, EXAM_KEY, EXAM_KEY_ID, EXAM_TEAM_ID, EXAM_TOPIC, EXAM_TOKENS (a file, \
            one token a line), EXAM_SITUATION and EXAM_SECONDS, the time it has. Without COMMAND the exam waits for whoever \
            connects, in each situation without limit until somebody has. Exit status: 0 passed, 1 failed (see --fail-on), 64 misuse.
            """)

    @Flag(help: "List the situations, and what is judged in each by which rule.")
    var list = false

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Play these situations only, in this order.", valueName: "situation"))
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write the report card to this file: .json, .xml (JUnit) or .html by its ending. Repeatable.",
            valueName: "file"))
    var report: [String] = []

    @Option(
        help: ArgumentHelp("What fails the exam: must, should (a must or a should), or never.", valueName: "weight"))
    var failOn = "must"

    @Option(help: ArgumentHelp("What the client is called in the report. Default: COMMAND's name.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Pushes of a situation, 10 to 1000.", valueName: "count"))
    var pushes = "20"

    @Option(
        help: ArgumentHelp(
            "Multiplies the exam's waits for the client and its time limits, 0.1 to 100.", valueName: "factor"))
    var patience = 1.0

    @Option(help: ArgumentHelp("How long a situation may take.", valueName: "duration"))
    var timeLimit = "15s"

    @Option(
        help: ArgumentHelp(
            "Without COMMAND: a situation is over when a client that came gave no sign for so long.",
            valueName: "duration"))
    var quiet = "5s"

    @Option(help: ArgumentHelp("Address to listen on.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Port to listen on; 0 lets the system choose.", valueName: "port"), transform: portNumber)
    var port: UInt16 = 0

    @Flag(help: "HTTP/2 without TLS, with prior knowledge.")
    var plaintext = false

    @Option(
        help: ArgumentHelp(
            "Folder of the provider key and the certificates, as for serve. Default: a folder for this exam.",
            valueName: "folder"))
    var credentials: String?

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The client and its arguments, after --.", valueName: "command"))
    var command: [String] = []

    func run() throws {
        let examined: (settings: ExamSettings, formats: [(path: String, format: CardFormat)])
        do { examined = try checked() } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(64)
        }
        if list { return Output.line(String(TerminalCard.list(examined.settings.situations).dropLast())) }
        FileLimit.raise()
        let signals = EndSignals()
        let folder = try scratchFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let card: ReportCard
        do { card = try hold(examined.settings, folder, signals) } catch let code as ExitCode { throw code } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(error is ExamError ? 64 : 1)
        }
        Output.line(String(TerminalCard.text(card).dropLast()))
        var isComplete = true
        for (path, format) in examined.formats {
            do { try WholeFile.write(try format.text(card, failing: failing), to: path) } catch {
                Output.error("mock-apns: \(error)")
                isComplete = false
            }
            endOutput(path)
        }
        if !isComplete { throw ExitCode(74) }
        if failing.contains(where: { card.count(.failed, $0) > 0 }) { throw ExitCode(1) }
    }

    /// Weights of what fails the exam.
    private var failing: Set<Criterion.Weight> {
        switch failOn {
        case "must": [.must]
        case "should": [.must, .should]
        default: []
        }
    }

    private func checked() throws -> (settings: ExamSettings, formats: [(path: String, format: CardFormat)]) {
        var settings = ExamSettings()
        let names = Situation.all.map(\.name)
        if !only.isEmpty {
            settings.situations = try only.map { wanted in
                guard let situation = Situation.all.first(where: { $0.name == wanted }) else {
                    throw Misuse("--only \(wanted): no such situation" + NearestName.hint(wanted, among: names))
                }
                return situation
            }
        }
        guard (0.1...100).contains(patience) else { throw Misuse("--patience \(patience): expected 0.1 to 100") }
        guard ["must", "should", "never"].contains(failOn) else {
            throw Misuse("--fail-on \(failOn)" + NearestName.hint(failOn, among: ["must", "should", "never"]))
        }
        if command.first?.isEmpty == true || command.isEmpty && CommandLine.arguments.last == "--" {
            throw Misuse("--: expected a command after it; without -- the exam waits for whoever connects")
        }
        settings.command = command
        settings.host = host
        settings.port = port
        settings.isPlaintext = plaintext
        settings.pushes = try count("--pushes", pushes, 10...1000)
        settings.patience = patience
        settings.timeLimit = try span("--time-limit", timeLimit)
        settings.quiet = try span("--quiet", quiet)
        for situation in settings.situations where !list {
            let least = max(Situation.leastTimeLimit, UInt64(Double(situation.needs) / patience))
            guard settings.timeLimit >= least else {
                let slower = patience == 1 ? "" : " with --patience \(patience)"
                throw Misuse(
                    "--time-limit \(timeLimit): \(situation.name) needs \(Units.duration(nanoseconds: Double(least))) at least"
                        + slower)
            }
        }
        let formats = try report.map { path in
            guard let format = CardFormat(path: path) else {
                throw Misuse("--report \(path): expected a name that ends with .json, .xml or .html")
            }
            try checkOutput("--report", path)
            return (path: path, format: format)
        }
        try checkDifferent(report.map { ("--report", $0) })
        if let credentials, credentials.isEmpty { throw Misuse("--credentials: expected a folder, not an empty text") }
        return (settings, formats)
    }

    private func span(_ flag: String, _ text: String) throws(Misuse) -> UInt64 {
        let time = try reading(flag, text, Units.duration)
        guard (1...3_600_000_000_000).contains(time) else {
            throw Misuse("\(flag) \(text): expected up to 1h, and not 0")
        }
        return time
    }

    private func scratchFolder() throws -> String {
        let place = FileManager.default.temporaryDirectory.path
        var path = Array((place + "/mock-apns-exam-XXXXXX").utf8CString)
        guard mkdtemp(&path) != nil else {
            Output.error("mock-apns: cannot make a folder in \(place): \(String(cString: strerror(errno)))")
            throw ExitCode(74)
        }
        return path.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    private func hold(_ settings: ExamSettings, _ folder: String, _ signals: EndSignals) throws -> ReportCard {
        let place = credentials ?? folder
        let loaded = try Credentials.loadOrCreate(directory: place, hosts: settings.isCalledLocalhost ? [] : [host])
            .credentials
        let tokens = folder + "/tokens.txt"
        try WholeFile.write(ExamDevices.tokens(settings.pushes).joined(separator: "\n") + "\n", to: tokens)
        let examiner = try Examiner(
            settings, ExamFiles(credentialsFolder: place, credentials: loaded, tokens: tokens))
        let client = name ?? command.first.map { String($0.split(separator: "/").last ?? "client") } ?? "client"
        var card = ReportCard(client: client, patience: settings.patience, pushes: settings.pushes)
        if command.isEmpty {
            for (name, value) in examiner.environment(settings.situations[0]).sorted(by: { $0.key < $1.key })
            where name != "EXAM_SITUATION" {
                Output.error("\(name)=\(value)")
            }
        }
        for situation in settings.situations {
            if command.isEmpty { Output.error("\(situation.name): waiting for the client") }
            guard let journal = try examiner.play(situation, isInterrupted: { signals.hasCome }) else {
                Output.error("mock-apns: interrupted in \(situation.name)")
                throw ExitCode(130)
            }
            let found = ReportCard.SituationCard(situation, journal)
            card.situations.append(found)
            Output.error(
                "\(situation.name): \(found.count(.passed)) passed, \(found.count(.failed)) failed, "
                    + "\(found.count(.notShown)) not shown (\(Units.fixed(found.seconds, places: 1)) s)")
        }
        return card
    }
}
