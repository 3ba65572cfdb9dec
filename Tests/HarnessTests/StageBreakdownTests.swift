import Harness
import Scenarios
import Testing
import Transport

@Suite struct StageBreakdownTests {
    @Test(
        "A push counts under the stage that asked for it, also those of a burst that another stage follows at once",
        arguments: ["constant", "jitter", "poisson"])
    func bursts(_ arrivals: String) throws {
        var scenario = Scenario()
        scenario.stages = try LoadStage.parse(
            "hold 1k 1s, burst 50, hold 2k 500ms, burst 20, burst 30, pause 1s, burst 10 1s, ramp 10 1k 1s")
        (scenario.arrivals, scenario.pushes, scenario.plaintext) = (arrivals, nil, true)
        (scenario.threads, scenario.connections) = (2, 2)
        let observed = try ObservedRun(scenario)
        let (run, drivers) = (observed.run, observed.drivers)
        let schedule = try #require(try scenario.makeSchedule())
        var asked = [UInt64](repeating: 0, count: schedule.stageNames.count)
        var cursor = schedule.cursor()
        for sequence in 0..<schedule.count {
            _ = cursor.due(sequence)
            asked[cursor.stage] += 1
        }
        // The schedule begins; what is taken stays open.
        var ticket = PushTicket(sequence: 0, due: 0)
        if case .push = drivers[0].take(now: 1_000_000_000, into: &ticket) { asked[0] -= 1 }
        for driver in drivers { driver.stopped(.runEnded, now: 60_000_000_000) }
        let parts = try #require(run.result().breakdown["stage"])
        #expect(schedule.stageNames.map { parts[$0]?.notSent ?? 0 } == asked)
        #expect(arrivals == "poisson" || asked[1...5] == [50, 1000, 20, 30, 0])
    }
}
