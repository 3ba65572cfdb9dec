extension ResultDocument {
    /// How the clock of a mock and that of a worker agree, found from the pushes between them.
    public struct Clock: Codable, Sendable, Equatable {
        /// The worker's index.
        public var worker: Int
        /// The name of the mock's file of push times.
        public var mock: String
        /// What the mock's wall clock was ahead of the worker's, ns.
        public var offset: Int64
        /// How far that may be wrong, ns.
        public var bound: Int64
        /// Pushes that it was found from.
        public var samples: Int
        /// What the mock's clock gained on the worker's, ppm; nil where that is less than what can be told.
        @Nullable public var drift: Double?

        enum CodingKeys: String, CodingKey {
            case worker, mock, samples
            case offset = "offset_ns"
            case bound = "bound_ns"
            case drift = "drift_ppm"
        }

        package init(worker: Int, mock: String, offset: Int64, bound: Int64, samples: Int, drift: Double?) {
            self.worker = worker
            self.mock = mock
            self.offset = offset
            self.bound = bound
            self.samples = samples
            self.drift = drift
        }
    }
}
