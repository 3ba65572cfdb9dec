import Flags
import Foundation
import Harness
import Measurement
import Reference
import Reports
import Results
import Scenarios
import Settings

/// Making baselines.
extension GateCommand {
    func renew(_ path: String, _ series: RunSeries) async throws {
        guard let reason, !reason.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty else {
            throw HarnessError("--update needs --reason: why what a push costs may be what it is now")
        }
        try output.refuse(with: "--update")
        try judging.refuse(with: "--update")
        var before: BaselineDocument?
        if FileManager.default.fileExists(atPath: path) {
            // What cannot be read is not overwritten.
            do throws(ResultError) { before = try BaselineFile.read(path) } catch {
                throw HarnessError("\(error); remove it to make it anew")
            }
        }
        let scenario = try scenario(before)
        let rounds = try await GateRounds(
            scenario, in: series,
            ifStopped: before == nil ? "no baseline was written" : "\(path) is kept as it was",
            injectedCPU: judging.injectedCPU, onOneCore: !judging.allCores)
        // Before anything is sent: what cannot be written is found out now.
        do throws(ResultError) { try BaselineFile.checkWritable(path) } catch {
            throw HarnessError(error.description)
        }
        _ = try await rounds.next()
        var made: [GateDocument.Round] = []
        let count = judging.baselineRounds
        while made.count < count {
            // In four parts, so that what disturbs the machine for a while is not all there is.
            if !made.isEmpty, made.count % max(1, count / 4) == 0 { try await Self.pause(series) }
            made.append(try await rounds.next().round())
            if !output.quiet, made.count % GateRules.firstLook == 0 {
                Console.diagnostic("\(made.count) of \(Units.counted(count, "round"))\n")
            }
        }
        let facts = MachineFacts()
        let renewed = BaselineDocument(
            name: Self.name(path), reason: reason, updatedAt: Date().formatted(.iso8601),
            version: Versions.pushload, commit: Versions.commit,
            scenario: ScenarioSettings.write(scenario),
            machine: .init(
                host: facts.host, cpu: facts.cpuModel, cores: facts.cores, kernel: facts.kernel, system: facts.system),
            kernel: ReferenceKernel.version, oneCore: !judging.allCores, metrics: GateMetric.baseline(made))
        do throws(ResultError) {
            try BaselineFile.write(renewed, to: path)
            Console.output(
                output.json
                    ? String(decoding: try BaselineFile.encode(renewed), as: UTF8.self)
                    : GateReport.update(renewed, before: before, path: path, on: Console.picture))
        } catch {
            throw HarnessError(error.description, .unwritable)
        }
    }

    /// What the flags say, over what the baseline had; a scenario that is named begins anew.
    func scenario(_ before: BaselineDocument?) throws(HarnessError) -> Scenario {
        var scenario: Scenario
        if let before, source.file == nil {
            scenario = try ScenarioSettings.read(before.scenario, origin: baseline ?? "")
            try ScenarioArguments.apply(settings: source.settings, flags: given, to: &scenario)
        } else {
            scenario = try source.scenario(given)
        }
        if scenario.pushes == nil, scenario.duration == nil, scenario.stages.isEmpty, scenario.trace == nil,
            scenario.sends.isEmpty, scenario.replay == nil
        {
            scenario.pushes = GateOptions.pushes
        }
        return scenario
    }

    /// The file's name without its suffix.
    private static func name(_ path: String) -> String {
        ((path as NSString).lastPathComponent as NSString).deletingPathExtension
    }
}
