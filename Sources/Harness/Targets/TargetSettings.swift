import Foundation
import Networking
import Scenarios
import Transport

/// The targets of a scenario.
extension RunInputs {
    /// What is wrong with them, one line each: one that is none or not for us, one that is there twice, two schemes.
    static func problems(of targets: TargetList, allowed: [String]) -> [String] {
        let rules = AllowedTargets(allowed, ProcessInfo.processInfo.environment)
        var problems: [String] = []
        var known: [TargetURL] = []
        for text in targets.urls {
            do throws(HarnessError) {
                try rules.check(text)
                let url = try TargetURL(text)
                if known.contains(url) { problems.append("target \(text): given twice; expected each target once") }
                if let first = known.first, first.isSecure != url.isSecure {
                    problems.append(
                        "target \(text): the first target is \(first.isSecure ? "https" : "http"); expected one scheme for all"
                    )
                }
                known.append(url)
            } catch { problems.append(error.description) }
        }
        return problems
    }
}

extension Target {
    /// Resolves a target's name.
    ///
    /// - Throws: when it has no address that may be connected to.
    init(_ url: TargetURL, rule: AddressRule, tls: TLSContext?) throws(NetworkError) {
        if let address = SocketAddress.numeric(host: url.host, port: url.port) {
            if let problem = rule.problem(of: address) { throw NetworkError(.forbidden, problem) }
            self.init(address: address, host: url.host, authority: url.authority, tls: tls)
        } else {
            self.init(
                addresses: try NamedAddresses(host: url.host, port: url.port, rule: rule), host: url.host,
                authority: url.authority, tls: tls)
        }
    }
}
