import Measurement
import Networking
import Payloads
import Results
import Scenarios
import Signing
import Transport

/// A run without its threads: whoever owns it turns the loop of each worker, so that client and mock run in step and cost the
/// same each time they are measured, or in virtual time. Only engines with a loop of ours.
public final class HandDrivenRun {
    private let load: LoadRun
    private let workers: [RunWorker]
    private let clients: [PushClient]
    private let watcher: RunWatcher

    /// - Parameters:
    ///   - scenario: without duration its `pushes` bound the ledger.
    ///   - identity: nil: no provider token is sent.
    ///   - runID: names the run; nil: drawn.
    ///   - loop: time and network of each worker; nil: the real ones.
    ///   - judge: a reason ends the run early.
    ///   - observe: puts itself between a worker's engine and its driver.
    /// - Throws: what is wrong with the scenario, or what the system has not enough of.
    public init(
        _ scenario: Scenario, address: SocketAddress, identity: ProviderIdentity?, runID: UInt64? = nil,
        loop: (Int) -> EventLoop? = { _ in nil }, judge: LiveJudge? = nil,
        observe: ((Int, PushDriver) -> PushDriver)? = nil
    ) throws {
        let inputs = try RunInputs(scenario, run: runID.map(RunID.init))
        let load = try LoadRun(
            inputs: inputs,
            targets: [Target(address: address, host: "127.0.0.1", authority: address.description, tls: nil)],
            identity: identity, times: nil)
        self.load = load
        workers = try (0..<inputs.scenario.threads).map { worker in
            try RunWorker(
                worker, of: load, loop: loop(worker), observe: observe.map { observe in { observe(worker, $0) } })
        }
        clients = workers.map(\.engine)
        watcher = RunWatcher(
            inputs: inputs, state: load.state, control: load.control, boxes: load.boxes, isTerminal: true,
            judge: judge, record: nil, progress: { _ in })
    }

    /// Once a process: a process may drive many runs by hand.
    private static let measuring = RunDocument.measuredCost()

    /// Starts to connect.
    public func begin() { for client in clients { client.begin() } }

    /// Sends what is due on one worker and takes in what is there.
    ///
    /// - Parameter waits: asks the event loop to wait for what comes next; else it only looks.
    /// - Returns: false when every push of the worker has ended.
    public func turn(_ worker: Int = 0, waits: Bool = false) -> Bool { clients[worker].turn(waits: waits) }

    /// The worker's pushes have all ended: says goodbye to its connections.
    public func end(_ worker: Int = 0) { clients[worker].end() }

    /// As a run's watcher does about every 50 ms.
    public func look() { watcher.look() }

    public var control: RunControl { load.control }
    public var runID: UInt64 { load.inputs.run.rawValue }
    /// Which pushes were accepted.
    public var accepted: DeliveryLedger { load.state.accepted }
    /// Start of the schedule, ns of the event loops; 0 before.
    public var start: UInt64 { load.state.start.load(ordering: .relaxed) }

    /// With `warmupAuto`: pushes due from then on are measured, ns of the event loops; `.max` before that is known.
    public var measuredFrom: UInt64 { load.state.measuredFrom.load(ordering: .relaxed) }

    /// What the engines still hold: nothing, once every worker has ended.
    public var leftovers: EngineLeftovers {
        var all = EngineLeftovers()
        for client in clients { all.add(client.leftovers) }
        return all
    }

    public var counts: PushCounts {
        var counts = PushCounts()
        for worker in workers { counts.add(worker.driver.recorder.counts) }
        return counts
    }

    /// The result, once every worker has ended. What only a process of its own can know is left out.
    public func result() -> ResultDocument {
        RunDocument(
            inputs: load.inputs, outcome: load.collect(workers, watcher), target: "by hand", measuring: Self.measuring
        ).result
    }
}
