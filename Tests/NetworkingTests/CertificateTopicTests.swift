import Testing

@testable import Networking

/// Topics in the extensions of Apple's push certificates.
@Suite struct CertificateTopicTests {
    private func string(_ text: String) -> [UInt8] { [0x0C, UInt8(text.utf8.count)] + Array(text.utf8) }
    private func sequence(_ content: [UInt8]) -> [UInt8] { [0x30, UInt8(content.count)] + content }

    @Test("The extension for VoIP is one topic, several, or none, which means the subject's own")
    func voip() {
        let (one, two) = ("com.example.app.voip", "com.example.two.voip")
        #expect(PeerCertificate.voipTopics(string(one), "com.x") == [one])
        #expect(PeerCertificate.voipTopics(sequence(string(one) + string(two)), "com.x") == [one, two])
        for nothing in [[], [0x05, 0x00], [0x30, 0x00], [0x0C], [0x0C, 0x7F, 0x61], [0x0C, 0x82, 0x01]] as [[UInt8]] {
            #expect(PeerCertificate.voipTopics(nothing, "com.x") == ["com.x.voip"], "\(nothing)")
            #expect(PeerCertificate.voipTopics(nothing, one) == [one])
            #expect(PeerCertificate.voipTopics(nothing, nil) == [])
        }
        #expect(PeerCertificate.voipTopics([0x0C] + [UInt8](repeating: 0x7F, count: 400), nil) == [])
    }
}
