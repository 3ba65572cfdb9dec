import PlainHTTP

/// The pushes that all workers keep.
struct KeptPushes {
    let server: MockServer

    /// Those asked for.
    func answer(_ query: PushQuery) -> PlainResponse {
        query.namespaces.missing("/pushes", server.shared)
            ?? PushDocument.answer(list(query), isLines: query.isLines)
    }

    /// Those asked for, in the order in which they came: the last so many, or the first after the one that the query names.
    func list(_ query: PushQuery) -> [RecentPushes.Entry] { list(query, through: server.shared.watch.last) }

    /// - Parameter last: of those that had a number before the workers are asked: later, one is kept while another with a lower number
    ///   is not kept yet.
    func list(_ query: PushQuery, through last: UInt64) -> [RecentPushes.Entry] {
        let (filter, namespaces) = (query.filter, query.namespaces)
        let found = server.ask { worker in
            worker.allNamespaces.filter { namespaces.includes($0.shared) }
                .flatMap { $0.recent.list(filter).filter { $0.number <= last } }
        }.flatMap { $0 }.sorted { $0.number < $1.number }
        return Array(filter.after == nil ? found.suffix(query.limit) : found.prefix(query.limit))
    }

    /// How many have come for each query after the push that is given with it.
    ///
    /// - Returns: counts in the order of the queries, and the number of the last push that was looked at.
    func counts(_ queries: [(query: PushQuery, after: UInt64)]) -> (counts: [Int], last: UInt64) {
        let last = server.shared.watch.last
        let found = server.ask { worker in
            queries.map { (query, after) in
                worker.allNamespaces.filter { query.namespaces.includes($0.shared) }.reduce(0) {
                    $0 + $1.recent.count(query.filter, after: after, through: last)
                }
            }
        }
        return (queries.indices.map { place in found.reduce(0) { $0 + $1[place] } }, last)
    }

    /// The one with this `apns-unique-id`.
    func find(_ unique: RandomUUID) -> RecentPushes.Entry? {
        var filter = PushFilter()
        filter.unique = unique
        return server.ask { [filter] worker in worker.allNamespaces.flatMap { $0.recent.list(filter) } }.flatMap { $0 }
            .first
    }
}
