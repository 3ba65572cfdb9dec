import Measurement
import Networking
import Scenarios
import Signing
import Transport

/// One worker of a run without its thread, everything on: whoever owns it turns its loop, so that client and mock run in step
/// and cost the same each time they are measured.
package final class HandDrivenWorker {
    private let load: LoadRun
    private let driver: WorkerDriver
    private let client: PushClient

    /// - Parameter scenario: its `pushes` bound the ledger; they are not to be reached.
    /// - Throws: what is wrong with the scenario, or what the system has not enough of.
    package init(_ scenario: Scenario, address: SocketAddress, identity: ProviderIdentity) throws {
        let inputs = try RunInputs(scenario)
        load = try LoadRun(
            inputs: inputs,
            target: Target(address: address, host: "127.0.0.1", authority: address.description, tls: nil),
            identity: identity, times: nil)
        let options = load.transportOptions(0)
        let signer = try TokenSigner(
            identity: identity, policy: inputs.policy, shared: SharedToken(), firstConnection: 0,
            connections: options.connections)
        driver = WorkerDriver(
            inputs: inputs, share: WorkerShare(worker: 0, workers: 1), state: load.state, box: SnapshotBox(),
            signer: signer)
        guard let client = try load.makeEngine(options, driver) as? PushClient else {
            throw HarnessError("only engines with a loop of ours can be driven by hand")
        }
        self.client = client
    }

    /// Starts to connect.
    package func begin() { client.begin() }

    /// Sends what is due and takes in what is there; waits for nothing.
    package func turn() { _ = client.turn(waits: false) }

    package var counts: PushCounts { driver.recorder.counts }
}
