import Payloads
import Scenarios
import Settings

extension RunInputs {
    /// What a recording is like that the run sends again; nil: it sends none.
    package var replayFacts: ReplayFacts? { replay?.facts }

    /// Why several workers do not send a recording.
    package static func refusal(ofWorkersFor path: String) -> HarnessError {
        HarnessError(
            "replay \(path): a recording is sent by one process, so that each push goes over its connection; leave the "
                + "workers out")
    }

    /// Makes a scenario's settings what the recording says.
    ///
    /// - Throws: one line when this process cannot send it, or when it is another recording than the scenario says.
    static func take(_ replay: Replay, into scenario: inout Scenario, _ place: RunPlace) throws(HarnessError) {
        let path = scenario.replay ?? ""
        guard place.isAlone, place.common == nil else { throw refusal(ofWorkersFor: path) }
        if let expected = scenario.replayCheck, expected != replay.facts.check {
            throw HarnessError(
                "replay \(path): another recording, \(replay.facts.check); expected \(expected) (replay_check)"
            )
        }
        scenario.replayCheck = replay.facts.check
        scenario.devices = replay.devices
        // One, which is what is there without being asked for, means as many as were recorded.
        if scenario.connections == 1 { scenario.connections = replay.connections }
        guard scenario.connections <= Scenario.mostConnections else {
            throw HarnessError(
                "replay \(path): \(Units.grouped(UInt64(replay.connections))) connections; give --connections, at most "
                    + "\(Units.grouped(UInt64(Scenario.mostConnections))), over which its pushes are dealt")
        }
        let targets = scenario.target?.urls.count ?? 1
        guard scenario.connections >= targets else {
            throw HarnessError(
                "replay \(path): \(Units.counted(replay.connections, "connection")) recorded, and each of the "
                    + "\(targets) targets needs at least one; give --connections \(targets)")
        }
    }
}
