import ArgumentParser
import Scenarios

/// The flags that make a run.
struct RunFlags: ParsableArguments {
    @OptionGroup(title: "Load") var length: LengthOptions
    @OptionGroup(title: "Load") var load: LoadOptions
    @OptionGroup(title: "Identity") var identity: IdentityOptions
    @OptionGroup(title: "Transport") var transport: TransportFlags

    /// The flags that were given, by key.
    var given: [(key: String, texts: [String]?)] {
        length.given + load.given + identity.given + transport.given
    }
}
