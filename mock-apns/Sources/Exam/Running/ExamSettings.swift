import Signing

/// What an exam is held with.
package struct ExamSettings: Sendable {
    /// In the order in which they are played.
    package var situations = Situation.all
    /// The client: a program and its arguments, started once a situation; empty: whoever connects is examined.
    package var command: [String] = []
    package var host = "127.0.0.1"
    /// 0: the system chooses.
    package var port: UInt16 = 0
    /// Without TLS, for clients that speak HTTP/2 with prior knowledge.
    package var isPlaintext = false
    /// Pushes of a situation, 10 to 1,000.
    package var pushes = 20
    /// What the exam's waits for the client and its time limits are multiplied by, 0.1 to 100.
    package var patience = 1.0
    /// How long a situation may take, ns, before `patience`.
    package var timeLimit: UInt64 = 15_000_000_000
    /// Without a command: a situation is over when nothing has come for so long, ns, before `patience`.
    package var quiet: UInt64 = 5_000_000_000

    /// The client calls it `localhost`.
    package var isCalledLocalhost: Bool { ["127.0.0.1", "0.0.0.0", "::1", "::", "localhost"].contains(host) }

    package init() {}
}

/// What a client needs to know, as files.
package struct ExamFiles: Sendable {
    /// Of `Credentials`.
    package let credentialsFolder: String
    package let credentials: Credentials
    /// The device tokens, one a line.
    package let tokens: String

    package init(credentialsFolder: String, credentials: Credentials, tokens: String) {
        self.credentialsFolder = credentialsFolder
        self.credentials = credentials
        self.tokens = tokens
    }
}
