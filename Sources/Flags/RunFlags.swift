/// The flags that make a run: of every command that makes some. Each has the groups beside each other rather than in a group
/// of their own, because in debug builds ArgumentParser checks groups in groups several times over, each time they are deeper.
package protocol RunFlags {
    var length: LengthOptions { get }
    var load: LoadOptions { get }
    var identity: IdentityOptions { get }
    var transport: TransportFlags { get }
}

extension RunFlags {
    /// The flags that were given, by key.
    package var given: [(key: String, texts: [String]?)] {
        length.given + load.given + identity.given + transport.given
    }
}
