import Networking

/// Which addresses may be connected to for a host: never Apple's, and those of other machines only where the host is allowed.
struct AddressRule: Sendable {
    let host: String
    /// Somebody has said that the host is theirs.
    let isAllowed: Bool

    /// Why an address may not be connected to, one line; nil when it may.
    func problem(of address: SocketAddress) -> String? {
        if address.isApple {
            return
                "\(host) leads to \(address), which is Apple's: not connected to; Apple's servers are not for load tests"
        }
        guard !isAllowed, !address.isThisMachine else { return nil }
        return
            "\(host) leads to \(address), which is not this machine: not connected to; if it is yours to load, say so: "
            + "--allow-target \(host)"
    }
}
