import Networking

/// Which topics a client certificate is for. "Sending notification requests to APNs": "Check Extension 1.2.840.113635.100.6.3.6 and
/// 1.2.840.113635.100.6.3.4 of your push certificate. These extensions list all the push topics allowed for your certificate."
extension PeerCertificate {
    /// The topic as it is written, with its suffix.
    func isFor(_ topic: String) -> Bool { topic == uid || topics.contains(topic) }

    /// The only topic there is, which a push need not name: "APNs uses the app's bundle ID as the default topic". nil: there are
    /// several, of which `apns-topic` must say one.
    var onlyTopic: String? { topics.allSatisfy { $0 == uid } ? uid : nil }
}
