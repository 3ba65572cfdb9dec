extension ResultDocument {
    /// One of several targets of a run.
    public struct Target: Codable, Sendable, Equatable {
        /// As it was asked for.
        public var target: String
        /// Pushes by how they ended on its connections. Those that failed on none are nobody's.
        public var accepted: UInt64 = 0
        public var rejected: UInt64 = 0
        public var failed: UInt64 = 0
        /// False: no connection was ever made, or all were lost and none made again before the end.
        public var reachedAtEnd = true
        public var connections = TargetConnections()

        enum CodingKeys: String, CodingKey {
            case target, accepted, rejected, failed, connections
            case reachedAtEnd = "reached_at_end"
        }

        package init(target: String) { self.target = target }
    }

    /// What became of the connections to one target.
    public struct TargetConnections: Codable, Sendable, Equatable {
        public var opened: UInt64 = 0
        public var lost: UInt64 = 0
        public var connectFailures: UInt64 = 0
        public var goAways: UInt64 = 0
        public var reconnects: UInt64 = 0
        /// Connections that ended before the run did, by why.
        public var ends: [String: UInt64] = [:]

        enum CodingKeys: String, CodingKey {
            case opened, lost, reconnects, ends
            case connectFailures = "connect_failures"
            case goAways = "goaways"
        }
    }
}
