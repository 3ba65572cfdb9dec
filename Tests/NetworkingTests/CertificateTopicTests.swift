import COpenSSL
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

    @Test("A list of topics of any length is read: of 3,000, more than 64 KiB")
    func long() {
        let topics = (1...3000).map { "com.example.application\($0)" }
        let content = topics.flatMap(string)
        let length = [UInt8(content.count >> 16), UInt8(content.count >> 8 & 0xFF), UInt8(content.count & 0xFF)]
        #expect(PeerCertificate.topics([0x30, 0x83] + length + content) == topics)
        #expect(PeerCertificate.topics([0x30, 0x84, 0] + length + content) == [])
        #expect(PeerCertificate.topics([0x30, 0x83] + length + content.dropLast()) == [])
    }

    /// A certificate that says no more than this UID.
    private func certificate(_ uid: [UInt8]?) throws -> PeerCertificate {
        let certificate = try #require(X509_new())
        defer { X509_free(certificate) }
        if let uid {
            let name = try #require(X509_NAME_new())
            defer { X509_NAME_free(name) }
            let isAdded = X509_NAME_add_entry_by_NID(name, NID_userId, V_ASN1_UTF8STRING, uid, Int32(uid.count), -1, 0)
            try #require(isAdded == 1 && X509_set_subject_name(certificate, name) == 1)
        }
        return PeerCertificate(certificate, verification: Int(X509_V_OK))
    }

    @Test("A UID is taken whole: with a NUL, or too long it is no topic, and the certificate not trusted")
    func uid() throws {
        let app = Array("com.example.app".utf8)
        #expect(try certificate(app).uid == "com.example.app" && certificate(app).problem == nil)
        #expect(try certificate(nil).uid == nil && certificate(nil).problem == nil)
        let longest = [UInt8](repeating: 0x61, count: 255)
        #expect(try certificate(longest).uid?.utf8.count == 255 && certificate(longest).problem == nil)
        for uid in [app + [0] + Array(".evil".utf8), app + [0], longest + [0x61]] {
            let judged = try certificate(uid)
            #expect(judged.uid == nil && judged.problem == "its UID is no text of at most 255 bytes", "\(uid)")
        }
    }
}
