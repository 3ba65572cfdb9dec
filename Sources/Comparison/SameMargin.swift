import ArgumentParser
import Harness
import Settings

/// By how much two sides may differ and are still called the same.
struct SameMargin: ParsableArguments {
    @Option(
        name: .customLong("same-within"),
        help: ArgumentHelp(
            "Call figures the same where they surely differ by no more than this, above 0% to 50%.", valueName: "share")
    )
    var text = "2%"

    func share() throws(HarnessError) -> Double {
        // Units know another limit: 100 %.
        guard let share = try? Units.share(text), share > 0, share <= 0.5 else {
            throw HarnessError("--same-within \(text): expected more than 0% and at most 50%")
        }
        return share
    }
}
