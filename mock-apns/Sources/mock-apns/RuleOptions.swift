import ArgumentParser
import MockAPNs

/// How the mock reads rules that Apple's pages leave open.
struct RuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A background push without apns-priority, which then has priority 10: strict refuses it with BadPriority, lenient takes it.",
            valueName: "strict|lenient"))
    var backgroundPriority = RequestRules.BackgroundPriority.strict.rawValue

    @Option(
        help: ArgumentHelp(
            "How many hexadecimal digits a device token may have: two even numbers, or one for exactly so many.",
            valueName: "from-to"))
    var tokenDigits = "64-400"

    @Option(
        help: ArgumentHelp(
            "What a provider key of the other environment is answered: BadEnvironmentKeyIdInToken, as Apple's page spells it, or BadEnvironmentKeyInToken, as clients report it.",
            valueName: "reason"))
    var keyEnvironmentReason = RequestRules().keyEnvironmentReason.name

    func rules() throws -> RequestRules {
        var rules = RequestRules()
        guard let priority = RequestRules.BackgroundPriority(rawValue: backgroundPriority) else {
            throw Misuse("--background-priority \(backgroundPriority): expected strict or lenient")
        }
        rules.backgroundPriority = priority
        rules.tokenDigits = try reading("--token-digits", tokenDigits, RequestRules.tokenDigits)
        rules.keyEnvironmentReason = try reading(
            "--key-environment-reason", keyEnvironmentReason, RequestRules.keyEnvironmentReason)
        return rules
    }
}
