import ArgumentParser
import Devices
import Flags
import Harness
import Scenarios
import Settings

/// What devices do with the pushes, and whom they ask.
struct PlanEchoOptions: ParsableArguments {
    @Option(
        name: .customLong("device-model"),
        help: ArgumentHelp(
            "Say what devices ask of their backend after the pushes: on, the bundled model, or a file.",
            valueName: "model"))
    var deviceModel: String?

    @Option(
        help: ArgumentHelp(
            "The backend's answers take 20ms, uniform 10ms 30ms, exponential 20ms or lognormal 20ms 0.5 (default: 0ms).",
            valueName: "time"))
    var backendTime: String?

    @Option(
        help: ArgumentHelp(
            "Body of an answer to a fetch or a download, at most 1GB, such as 20KiB.", valueName: "size"))
    var backendBody: String?

    @Option(help: ArgumentHelp("When the fan-out begins, UTC, 00:00 to 23:59 (default: 12:00).", valueName: "hh:mm"))
    var at: String?

    /// What can be said before anything is measured; nil: no echo is asked for.
    ///
    /// - Parameters:
    ///   - scenario: whose pushes they are.
    ///   - pushes: how many; nil: not said.
    func question(
        seed: UInt64, pushes: UInt64?, _ scenario: () throws(HarnessError) -> Scenario
    ) throws(HarnessError) -> EchoQuestion? {
        guard let deviceModel else {
            for (flag, value) in [("--backend-time", backendTime), ("--backend-body", backendBody), ("--at", at)]
            where value != nil {
                throw HarnessError("\(flag) goes with --device-model, which says what devices ask")
            }
            return nil
        }
        guard pushes != nil else {
            throw HarnessError(
                "--device-model goes with --devices and --within: an echo is of so many pushes in so long")
        }
        let model: DeviceModel
        do throws(SettingsError) { model = try DeviceModelFile.named(deviceModel) } catch {
            throw HarnessError(error.description)
        }
        var question = EchoQuestion(
            name: deviceModel, model: model, pushes: EchoPushes(try PushSample(try scenario())))
        question.seed = seed
        if let backendTime {
            do throws(SettingsError) { question.backendTime = try TimeDistribution(parsing: backendTime) } catch {
                throw HarnessError("--backend-time \(error)")
            }
        }
        if let backendBody {
            let bytes = try PlanValue.read("--backend-body", backendBody, Units.bytes)
            guard (0...1_000_000_000).contains(bytes) else {
                throw HarnessError("--backend-body \(backendBody): expected 0 to 1GB")
            }
            question.body = Double(bytes)
        }
        if let at { question.timeOfDay = try Self.time(at) }
        return question
    }

    /// `20:15`, nanoseconds since midnight.
    private static func time(_ text: String) throws(HarnessError) -> UInt64 {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { 48...57 ~= $0 } }),
            let hours = UInt64(parts[0]), let minutes = UInt64(parts[1]), hours < 24, minutes < 60
        else {
            throw HarnessError(
                "--at \(text): expected a time of the day, UTC, 00:00 to 23:59, two digits each, such as 09:00")
        }
        return (hours * 60 + minutes) * 60_000_000_000
    }
}
