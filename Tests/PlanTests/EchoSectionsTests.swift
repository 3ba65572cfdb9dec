import Scenarios
import Testing

@testable import Plan

@Suite struct EchoSectionsTests {
    @Test("Long times are minutes, hours and days, never shorter than they are")
    func times() {
        #expect(EchoSections.roundedUp(191.2e9) == "192 s" && EchoSections.roundedUp(40.31e9) == "40.4 s")
        #expect(EchoSections.roundedUp(600e9) == "600 s" && EchoSections.roundedUp(600.1e9) == "10m 01s")
        #expect(EchoSections.roundedUp(3600e9) == "60m 00s" && EchoSections.roundedUp(11_221e9) == "3h 08m")
        #expect(EchoSections.roundedUp(11_265_727e9) == "130d 10h" && EchoSections.roundedUp(86_401e9) == "1d 01h")
    }

    @Test("Small counts and rates have their digits, large ones are grouped")
    func rates() {
        #expect(PlanReport.rate(0) == "0" && PlanReport.rate(5) == "5" && PlanReport.rate(5.238) == "5.24")
        #expect(PlanReport.rate(0.08876) == "0.0888" && PlanReport.rate(0.08876, .down) == "0.0887")
        #expect(PlanReport.rate(4_999.9, .down) == "4,999" && PlanReport.rate(.infinity) == "-")
        #expect(
            PlanReport.bits(1_276_547.71e9 / 8) == "1,276,548 Gbit/s" && PlanReport.bits(26.14e9 / 8) == "26.14 Gbit/s")
        #expect(PlanReport.bits(1e6 / 8) == "1.0 Mbit/s" && PlanReport.bits(500 / 8) == "0.5 kbit/s")
    }

    @Test("A goal of the echo is a limit from above", arguments: ["==", ">", ">="])
    func goals(_ comparison: String) throws {
        let text = "echo.peak \(comparison) 50k"
        let message =
            "goal \"\(text)\": a fan-out is planned to keep the peak below a limit; expected < or <=, as in echo.peak < 50k"
        #expect(throws: Planner.Failure(description: message)) {
            try Planner.check([try Threshold(parsing: text)], hasEcho: true)
        }
        try Planner.check(Threshold.list(parsing: "echo.peak < 50k && echo.peak <= 50k"), hasEcho: true)
    }
}
