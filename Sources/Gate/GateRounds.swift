import Flags
import Foundation
import Harness
import Results
import Scenarios
import Settings

/// Rounds of a gate, each in a process of its own (`GateRoundCommand`): where a process's memory happens to lie makes up to 4 %
/// of what a push costs, for as long as it lives.
struct GateRounds {
    private let program: ChildRun
    /// How the program was named, where it is not this one.
    private let origin: String?
    private let order: Data
    private let series: RunSeries
    private let ifStopped: String

    /// - Parameters:
    ///   - series: may stop them.
    ///   - ifStopped: what it means that they were stopped.
    ///   - injectedCPU: ns a push.
    ///   - onOneCore: client and mock are kept to one core.
    init(
        _ scenario: Scenario, in series: RunSeries, ifStopped: String, injectedCPU: UInt64, onOneCore: Bool
    ) async throws {
        // Before anything is sent: what cannot be run is found out now.
        _ = try Run(scenario, identity: try scenario.identity())
        try await self.init(
            program: ChildRun(nil, origin: "pushload"), origin: nil, scenario, in: series, ifStopped: ifStopped,
            injectedCPU: injectedCPU, onOneCore: onOneCore)
    }

    /// Rounds of another build.
    ///
    /// - Parameters:
    ///   - binary: its pushload; the mock beside it is its own.
    ///   - given: keys of settings that it is told though they may be this build's defaults.
    /// - Throws: one line when it is no pushload.
    init(
        of binary: String, _ scenario: Scenario, given: Set<String>, in series: RunSeries, ifStopped: String,
        onOneCore: Bool
    ) async throws {
        let origin = "--base-binary"
        let program = try await ChildRun(binary, origin: origin)
        guard scenario.target != nil || FileManager.default.isExecutableFile(atPath: program.mock) else {
            throw HarnessError("\(origin) \(binary): its mock is missing: expected an executable at \(program.mock)")
        }
        try await self.init(
            program: program, origin: "\(origin) \(binary)", scenario, given: given, in: series,
            ifStopped: ifStopped, injectedCPU: 0, onOneCore: onOneCore)
    }

    private init(
        program: ChildRun, origin: String?, _ scenario: Scenario, given: Set<String> = [], in series: RunSeries,
        ifStopped: String, injectedCPU: UInt64, onOneCore: Bool
    ) async throws {
        guard !onOneCore || scenario.pin == nil && !scenario.mockIsGiven("--pin") else {
            throw HarnessError("pin: a gate keeps client and mock to one core; leave it out, or give --all-cores")
        }
        self.program = program
        self.origin = origin
        self.series = series
        self.ifStopped = ifStopped
        order = try JSONEncoder().encode(
            GateRoundOrder(scenario: Self.asked(scenario, given), injectedCPU: injectedCPU, onOneCore: onOneCore))
    }

    /// `--version` of the program, and the path of its executable.
    var version: String { program.version }
    var executable: String { program.executable }

    /// Only what was asked for: a build that is older does not know every setting, and one whose defaults are others is to be
    /// held to them.
    private static func asked(_ scenario: Scenario, _ given: Set<String>) -> [String: JSONValue] {
        let usual = ScenarioSettings.write(Scenario())
        return ScenarioSettings.write(scenario).filter {
            usual[$0.key] != $0.value || given.contains(SettingWords.key($0.key))
        }
    }

    /// - Parameter isFirst: what is wrong with a program of another build shows itself here.
    func next(isFirst: Bool = false) async throws -> GateRoundAnswer {
        guard let said = try await program.answer("gate-round", to: order, in: series) else {
            throw HarnessError("interrupted: \(ifStopped)", .failed)
        }
        let answer = try? JSONDecoder().decode(GateRoundAnswer.self, from: Data(said.output.utf8))
        guard let origin else {
            if !said.error.isEmpty { Console.diagnostic(said.error) }
            // It has said what is wrong.
            if said.problem == .usage { throw HarnessError("no round can be made of what was asked for") }
            guard said.problem == nil, let answer else {
                throw HarnessError("a round went wrong, so that costs mean nothing", .failed)
            }
            return answer
        }
        guard said.problem == nil, let answer else {
            let line = ChildRun.line(said.error.isEmpty ? said.output : said.error)
            let why = line.hasPrefix("pushload: ") ? String(line.dropFirst("pushload: ".count)) : line
            throw isFirst
                ? HarnessError("\(origin): version \(version) makes no round of a gate: \(why)")
                : HarnessError("\(origin): a round went wrong, so that costs mean nothing: \(why)", .failed)
        }
        guard [nil, GateRoundAnswer.currentSchema].contains(answer.schema) else {
            throw HarnessError(
                "\(origin): version \(version) answers a gate with \(answer.schema ?? ""), this version reads "
                    + GateRoundAnswer.currentSchema)
        }
        return answer
    }
}
