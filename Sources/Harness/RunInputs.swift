import Foundation
import Networking
import Payloads
import Scenarios
import Signing

/// How pushes prove who sends them.
public enum Authentication: Sendable {
    case token(ProviderIdentity)
    /// Mutual TLS.
    case certificate(TLSIdentity)
    case none
}

/// A scenario with everything it names loaded and checked.
public struct RunInputs: Sendable {
    public let scenario: Scenario
    public let mix: ProfileMix
    public let headers: [PushHeaders]
    public let population: DevicePopulation
    public let policy: SigningPolicy
    public let run: RunID
    /// When pushes are due; nil in closed loop.
    public let schedule: LoadSchedule?
    /// The number of pushes, where it is known beforehand; nil when it depends on how fast they go.
    public let planned: UInt64?
    /// What outcomes are kept apart by besides.
    public let breakdown: [BreakdownDimension]
    /// CPU time that every push costs besides, ns; for finding out what would be noticed.
    var injectedCPU: UInt64 = 0

    /// - Parameter run: nil: drawn.
    /// - Throws: one line for each problem of the scenario, or the first problem of a file it names.
    public init(_ scenario: Scenario, run: RunID? = nil) throws(HarnessError) {
        let scenario = scenario.withDefaultTopic
        let problems = scenario.validate()
        guard problems.isEmpty else { throw HarnessError(problems.joined(separator: "\n")) }
        #if !NIO
            if scenario.engine == "nio" {
                throw HarnessError(
                    "engine \"nio\": this build has no SwiftNIO; build one with "
                        + "`swift build -c release --traits NIO,Jemalloc` (make build-nio), or use wire or nghttp2")
            }
        #endif
        self.scenario = scenario
        do {
            policy = try SigningPolicy(parsing: scenario.signPolicy)
            if let path = scenario.deviceFile {
                population = .file(try DeviceFile(path: path))
            } else {
                population = .synthetic(SyntheticDevices(seed: scenario.seed, count: scenario.devices))
            }
            let longestToken = population.longestToken
            if let path = scenario.template {
                mix = ProfileMix(try Self.template(path, scenario, longestToken: longestToken))
            } else {
                mix = try ProfileMix(parsing: scenario.profile, longestToken: longestToken)
            }
            var headers: [PushHeaders] = []
            for entry in mix.entries {
                // An explicit priority is for every profile; background pushes keep theirs when it does not fit.
                let wanted = scenario.priority.flatMap { entry.profile.pushType == .background && $0 == 10 ? nil : $0 }
                headers.append(
                    try PushHeaders(
                        pushType: entry.profile.pushType, bundleID: scenario.topic,
                        priority: wanted ?? entry.profile.priority, expiration: scenario.expiration,
                        collapseID: scenario.collapseID))
            }
            self.headers = headers
            schedule = try scenario.makeSchedule()
            breakdown = try scenario.by.map(BreakdownDimension.init(parsing:))
            planned = schedule?.count ?? (scenario.duration == nil ? scenario.pushes : nil)
        } catch {
            throw HarnessError("\(error)")
        }
        self.run = run ?? RunID(UInt64.random(in: 1 ... .max))
    }

    private static func template(_ path: String, _ scenario: Scenario, longestToken: Int) throws -> Profile {
        guard let pushType = PushType(rawValue: scenario.pushType) else {
            let known = PushType.allCases.map(\.rawValue).joined(separator: ", ")
            throw HarnessError("push type \"\(scenario.pushType)\": known types: \(known)")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw HarnessError("cannot read the template \(path)")
        }
        guard let json = String(data: data, encoding: .utf8) else {
            throw HarnessError("\(path): not UTF-8 text")
        }
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        return Profile(
            name: name, pushType: pushType,
            template: try PayloadTemplate(json: json, name: path, pushType: pushType, longestToken: longestToken))
    }
}
