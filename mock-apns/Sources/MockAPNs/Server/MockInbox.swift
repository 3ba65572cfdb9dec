import Synchronization

/// What other threads ask of a worker.
final class MockInbox: Sendable {
    enum Task: Sendable {
        /// Serve this connection.
        case adopt(Int32, ListenerRole)
        /// Do this on the worker's thread.
        case perform(@Sendable (MockWorker) -> Void)
    }

    private let tasks = Mutex<(list: [Task], isOpen: Bool)>(([], true))
    private let stopping = Atomic<Bool>(false)

    /// False when the worker has ended.
    func put(_ task: Task) -> Bool {
        tasks.withLock { tasks in
            guard tasks.isOpen else { return false }
            tasks.list.append(task)
            return true
        }
    }

    func take() -> [Task] {
        tasks.withLock { tasks in
            defer { tasks.list = [] }
            return tasks.list
        }
    }

    /// Nothing more is taken in; what is there is returned.
    func close() -> [Task] {
        tasks.withLock { tasks in
            defer { tasks = ([], false) }
            return tasks.list
        }
    }

    func stop() { stopping.store(true, ordering: .relaxed) }
    var isStopping: Bool { stopping.load(ordering: .relaxed) }
}
