/// Where a run leaves what it has while it goes on: `latency.hlog`, to which each interval is added as it ends, and every few
/// seconds a partial `result.json`.
package struct RunOutput: Sendable {
    /// The run's own folder, which exists.
    let folder: String
    /// Told what cannot be written, and what connections ran into, one line each; the run goes on.
    let warn: @Sendable (String) -> Void

    package init(folder: String, warn: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.warn = warn
    }
}
