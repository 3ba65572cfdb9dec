import Foundation
import Testing

@testable import Signing

@Suite struct TokenTests {
    private let identity: ProviderIdentity
    init() throws {
        identity = try ProviderIdentity(key: try .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890")
    }

    private func verdict(_ jwt: String, _ identities: [ProviderIdentity]? = nil) -> TokenVerdict {
        let verifier = TokenVerifier(identities ?? [identity])
        return Array(jwt.utf8).withUnsafeBytes { verifier.verify($0) }
    }

    private func jwt(unixTime: Int64 = 1_700_000_000) throws -> String {
        let bearer = try TokenSigner.bearer(identity, unixTime: unixTime)
        #expect(bearer.hasPrefix("bearer "))
        return String(bearer.dropFirst(7))
    }

    private func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private func decode(_ part: Substring) -> Data? {
        var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        return Data(base64Encoded: text)
    }

    @Test("A token has Apple's header and claims, and openssl verifies its signature")
    func independent() throws {
        let folder = try TemporaryFolder()
        let parts = try jwt().split(separator: ".")
        #expect(parts.count == 3)
        let header = try JSONSerialization.jsonObject(with: try #require(decode(parts[0]))) as? [String: String]
        #expect(header == ["alg": "ES256", "kid": "ABC123DEFG"])
        let claims = try JSONSerialization.jsonObject(with: try #require(decode(parts[1]))) as? [String: Any]
        #expect(
            claims?["iss"] as? String == "TEAM567890" && claims?["iat"] as? Int == 1_700_000_000 && claims?.count == 2)
        let raw = Array(try #require(decode(parts[2])))
        #expect(raw.count == 64)
        let signature = try folder.write("sig.der", TokenVerifier.derSignature(raw: raw))
        let key = try folder.write("key.pem", identity.key.publicKeyPEM())
        let message = try folder.write("message", Array("\(parts[0]).\(parts[1])".utf8))
        #expect(try openssl(["dgst", "-sha256", "-verify", key, "-signature", signature, message]).status == 0)
    }

    @Test("Signatures whose numbers are short in DER become 64 bytes: 2,000 tokens all verify")
    func manySignatures() throws {
        let verifier = TokenVerifier([identity])
        let writer = try TokenWriter(identity)
        var buffer = [UInt8](repeating: 0, count: writer.capacity)
        for time in 0..<2000 {
            let count = try writer.write(unixTime: Int64(time), into: &buffer)
            let verdict = buffer[7..<count].withUnsafeBytes { verifier.verify($0) }
            #expect(verdict == .valid(issuedAt: Int64(time), keyID: "ABC123DEFG"))
        }
    }

    @Test("Tokens of other keys, teams and algorithms are refused for what they are")
    func flaws() throws {
        let good = try jwt()
        #expect(verdict(good) == .valid(issuedAt: 1_700_000_000, keyID: "ABC123DEFG"))
        let stranger = try ProviderIdentity(key: try .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890")
        #expect(verdict(good, [stranger]) == .invalid(.badSignature))
        let otherTeam = try ProviderIdentity(key: identity.key, keyID: "ABC123DEFG", teamID: "OTHER67890")
        #expect(verdict(good, [otherTeam]) == .invalid(.wrongTeam))
        let otherKey = try ProviderIdentity(key: identity.key, keyID: "OTHER3DEFG", teamID: "TEAM567890")
        #expect(verdict(good, [otherKey]) == .invalid(.unknownKey))
        let parts = good.split(separator: ".")
        func with(header: String, claims: String? = nil, signature: String? = nil) -> TokenVerdict {
            let claims = claims.map { base64URL(Data($0.utf8)) } ?? String(parts[1])
            return verdict("\(base64URL(Data(header.utf8))).\(claims).\(signature ?? String(parts[2]))")
        }
        #expect(with(header: "{\"alg\":\"none\",\"kid\":\"ABC123DEFG\"}", signature: "") == .invalid(.wrongAlgorithm))
        #expect(with(header: "{\"alg\":\"HS256\",\"kid\":\"ABC123DEFG\"}") == .invalid(.wrongAlgorithm))
        #expect(with(header: "{\"alg\":\"ES256\"}") == .invalid(.unknownKey))
        #expect(with(header: "[]") == .invalid(.malformed))
        let header = "{\"alg\":\"ES256\",\"kid\":\"ABC123DEFG\"}"
        #expect(with(header: header, claims: "{\"iss\":\"TEAM567890\"}") == .invalid(.noIssueTime))
        for time in ["\"\"", "\"soon\"", "\"-1\"", "\"+1\"", "\"1.5\"", "\" 1\"", "true", "null", "[1]", "{}"] {
            let claims = "{\"iss\":\"TEAM567890\",\"iat\":\(time)}"
            #expect(with(header: header, claims: claims) == .invalid(.noIssueTime), "\(time)")
        }
        #expect(with(header: header, claims: "{\"iss\":\"TEAM567890\",\"iat\":1}") == .invalid(.badSignature))
        for text in [
            "", ".", "..", "a.b", "a.b.c.d", good + "=", String(good.dropLast()), String(repeating: "a", count: 5000),
        ] {
            #expect(verdict(text) != .valid(issuedAt: 1_700_000_000, keyID: "ABC123DEFG"))
        }
    }

    /// A token with this header and these claims, letter by letter.
    private func signed(header: String = "{\"alg\":\"ES256\",\"kid\":\"ABC123DEFG\"}", claims: String) throws -> String
    {
        String(decoding: try TokenWriter(identity).write(header: header, claims: claims), as: UTF8.self)
    }

    @Test("A time of issue may be fractional or a text of digits, with white space and other claims around it")
    func clients() throws {
        let valid = TokenVerdict.valid(issuedAt: 1_795_312_345, keyID: "ABC123DEFG")
        // PyAPNs2: the claims as PyJWT writes `time.time()`.
        let python = "{\"iss\":\"TEAM567890\",\"iat\":1795312345.6543212}"
        let pythonHeader = "{\"typ\":\"JWT\",\"alg\":\"ES256\",\"kid\":\"ABC123DEFG\"}"
        #expect(verdict(try signed(header: pythonHeader, claims: python)) == valid)
        // APNSwift: texts over several lines, `iat` in quotes, the key among the claims.
        let swiftHeader = """
            {
                "alg": "ES256",
                "typ": "JWT",
                "kid": "ABC123DEFG"
            }
            """
        let swift = """
            {
                "iss": "TEAM567890",
                "iat": "1795312345",
                "kid": "ABC123DEFG"
            }
            """
        #expect(verdict(try signed(header: swiftHeader, claims: swift)) == valid)
        #expect(verdict(try signed(claims: "\t{ \"iat\" :\r\n1.795312345e9 , \"iss\":\"TEAM567890\" }\n")) == valid)
    }

    @Test("Header and claims are JSON in UTF-8 without a byte order mark, and have each member once")
    func strict() throws {
        let (header, claims) = (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"TEAM567890","iat":7}"#)
        // What is malformed is so before its signature is looked at.
        func verdict(_ header: Data, _ claims: Data) throws -> TokenVerdict {
            self.verdict("\(base64URL(header)).\(base64URL(claims)).\(try jwt().split(separator: ".")[2])")
        }
        let (plainHeader, plainClaims) = (Data(header.utf8), Data(claims.utf8))
        #expect(try verdict(plainHeader, plainClaims) == .invalid(.badSignature))
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian] {
            #expect(try verdict(#require(header.data(using: encoding)), plainClaims) == .invalid(.malformed))
            #expect(try verdict(plainHeader, #require(claims.data(using: encoding))) == .invalid(.malformed))
        }
        #expect(try verdict(Data([0xEF, 0xBB, 0xBF]) + plainHeader, plainClaims) == .invalid(.malformed))
        let invalid = Data(#"{"iss":"TEAM567890","iat":7,"x":""#.utf8) + [0xFF] + Data("\"}".utf8)
        #expect(try verdict(plainHeader, invalid) == .invalid(.malformed))
        for more in [
            #""iat":8"#, #""i\u0061t":8"#, #""x":1,"x":1"#, #""x":"\ud800""#, #""x":["\udc00\ud800"]"#,
            #""\/":1,"/":2"#,
        ] {
            let text = "\(claims.dropLast()),\(more)}"
            #expect(try verdict(plainHeader, Data(text.utf8)) == .invalid(.malformed), "\(more)")
        }
        let twice = Data((header.dropLast() + #","kid":"ABC123DEFG"}"#).utf8)
        #expect(try verdict(twice, plainClaims) == .invalid(.malformed))
        // What looks like a second one, and is none.
        for more in [
            #""x":"iat","y":{"iat":8,"iss":1}"#, #""x":"\ud83d\ude00","y":["iat"]"#, #""é":1,"e\u0301":2"#,
            #""x":"\\\"iat\":""#,
        ] {
            let text = "\(claims.dropLast()),\(more)}"
            #expect(self.verdict(try signed(claims: text)) == .valid(issuedAt: 7, keyID: "ABC123DEFG"), "\(more)")
        }
    }

    @Test("What a client says is shown without characters that command a terminal or turn the direction of a text")
    func quoted() {
        #expect(TokenVerifier.quoted("com.example.app", most: 255) == "\"com.example.app\"")
        #expect(
            TokenVerifier.quoted("\u{1B}]0;pwn\u{7}\u{9B}31m\u{202E}\"é", most: 255)
                == #""\u{1B}]0;pwn\u{07}\u{9B}31m\u{202E}\"é""#)
        #expect(TokenVerifier.quoted(String(repeating: "a", count: 9000), most: 255).count == 257)
    }

    @Test("No number is too large, too small or too long to be a time of issue")
    func numbers() throws {
        func time(_ number: String) throws -> Int64? {
            let verdict = verdict(try signed(claims: "{\"iss\":\"TEAM567890\",\"iat\":\(number)}"))
            if case .valid(let time, _) = verdict { return time }
            return nil
        }
        for (number, expected) in [
            ("0", 0), ("-0", 0), ("-0.0", 0), ("-0.5", -1), ("1e3", 1000), ("0.999999999999", 0), ("1e-400", 0),
            ("9223372036854775807", Int64.max), ("-9223372036854775808", .min), ("9223372036854775808", .max),
            ("-9223372036854775809", .min), ("9.3e18", .max), ("-1e300", .min), ("1e300", .max),
            ("1\(String(repeating: "0", count: 200))", .max), ("\"9223372036854775807\"", .max),
            ("11629591976280225.71", 11_629_591_976_280_225), ("-9007199254740993", -9_007_199_254_740_993),
        ] { #expect(try time(number) == expected, "\(number)") }
        #expect(try time("1e999") == nil && time("-1e999") == nil && time("\"9223372036854775808\"") == nil)
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random(_ count: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % count
        }
        func digits() -> String { (0...random(25)).map { _ in String(random(10)) }.joined() }
        for _ in 0..<5000 {
            var number = digits()
            while number.count > 1, number.hasPrefix("0") { number.removeFirst() }
            if random(2) == 0 { number = "-" + number }
            if random(2) == 0 { number += "." + digits() }
            if random(3) == 0 { number += ["e", "E", "e+", "E-"][Int(random(4))] + String(random(330)) }
            // strtod is the model: exact below 2^53, the nearest of the numbers a Double holds beyond.
            let model = strtod(number, nil).rounded(.down)
            guard let found = try time(number) else {
                #expect(!model.isFinite, "seed \(seed): \(number) is no time")
                continue
            }
            let expected = model >= 0x1p63 ? Double(Int64.max) : model < -0x1p63 ? Double(Int64.min) : model
            let rounding = expected.magnitude < 0x1p53 ? 0 : expected.ulp
            #expect(abs(Double(found) - expected) <= rounding, "seed \(seed): \(number) is \(found)")
        }
    }

    @Test("No change of a single byte leaves a token valid, and no bytes crash the verifier")
    func mutations() throws {
        let good = Array(try jwt().utf8)
        let verifier = TokenVerifier([identity])
        let seed = UInt64.random(in: .min ... .max)
        var generator = seed
        func random() -> UInt64 {
            generator = generator &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return generator >> 17
        }
        for place in good.indices {
            var changed = good
            changed[place] = UInt8(truncatingIfNeeded: random())
            if changed == good { continue }
            let verdict = changed.withUnsafeBytes { verifier.verify($0) }
            if case .valid = verdict { Issue.record("seed \(seed): byte \(place) changed and still valid") }
        }
        for _ in 0..<2000 {
            let bytes = (0..<Int(random() % 300)).map { _ in UInt8(truncatingIfNeeded: random()) }
            if case .valid = bytes.withUnsafeBytes({ verifier.verify($0) }) {
                Issue.record("seed \(seed): noise is valid")
            }
        }
    }

    /// What was given under each version.
    private final class Given {
        var tokens: [ObjectIdentifier: [UInt64: [UInt8]]] = [:]
    }
    private let given = Given()

    private func bytes(_ signer: TokenSigner, connection: Int = 0, _ time: Int64) -> [UInt8] {
        let token = Array(signer.authorization(connection: connection, unixTime: time))
        let before = given.tokens[ObjectIdentifier(signer), default: [:]].updateValue(token, forKey: signer.version)
        #expect(signer.version > 0 && (before == nil || before == token), "one version, one token")
        return token
    }

    @Test("cached: all workers send the same token, and another after the renewal time, not before")
    func cached() throws {
        let shared = SharedToken()
        let signers = try (0..<3).map { _ in
            try TokenSigner(
                identity: identity, policy: .cached(renewAfterSeconds: 1200), shared: shared, firstConnection: 0,
                connections: 1)
        }
        let first = bytes(signers[0], 1000)
        for signer in signers { #expect(bytes(signer, 1001) == first && bytes(signer, 2199) == first) }
        let second = bytes(signers[2], 2200)
        #expect(second != first && bytes(signers[0], 2201) == second)
        #expect(shared.signed == 2)
    }

    @Test("per-connection, every:N and per-push sign as often as they say")
    func policies() throws {
        func signer(_ policy: SigningPolicy) throws -> TokenSigner {
            try TokenSigner(
                identity: identity, policy: policy, shared: SharedToken(), firstConnection: 10, connections: 2)
        }
        let perConnection = try signer(.perConnection)
        perConnection.connectionOpened(10, unixTime: 1)
        perConnection.connectionOpened(11, unixTime: 1)
        let tokens = (bytes(perConnection, connection: 10, 2), bytes(perConnection, connection: 11, 2))
        #expect(tokens.0 != tokens.1 && bytes(perConnection, connection: 10, 3) == tokens.0)
        #expect(perConnection.tokensSigned == 2)
        let every = try signer(.every(4))
        for _ in 0..<10 { _ = bytes(every, connection: 10, 1) }
        #expect(every.tokensSigned == 3)
        let perPush = try signer(.perPush)
        for _ in 0..<5 { _ = bytes(perPush, connection: 10, 1) }
        #expect(perPush.tokensSigned == 5)
    }

    @Test("A token that the target calls expired is replaced once in 20 minutes, for all workers, and not in a loop")
    func replaced() throws {
        let shared = SharedToken()
        let signers = try (0..<2).map { _ in
            try TokenSigner(
                identity: identity, policy: .standard, shared: shared, firstConnection: 0, connections: 1)
        }
        func replace(_ place: Int, usedAt: UInt64, _ time: UInt64, _ unixTime: Int64) -> Bool {
            signers[place].replace(connection: 0, usedAt: usedAt, time: time, unixTime: unixTime)
        }
        let first = bytes(signers[0], 1000)
        #expect(bytes(signers[1], 1000) == first)
        #expect(replace(0, usedAt: 1, 10, 1001))
        let second = bytes(signers[0], 1001)
        #expect(second != first && shared.signed == 2)
        // Others that were sent with the first one; one that was sent with the second.
        #expect(replace(0, usedAt: 9, 11, 1002) && !replace(0, usedAt: 11, 20, 1002) && shared.signed == 2)
        // Another worker takes what there is.
        #expect(bytes(signers[1], 1002) == first && replace(1, usedAt: 2, 12, 1002))
        #expect(bytes(signers[1], 1002) == second && !replace(1, usedAt: 13, 20, 1002))
        #expect(!replace(0, usedAt: 15, 30, 2200) && replace(0, usedAt: 15, 31, 2201))
        #expect(bytes(signers[0], 2201) != second && shared.signed == 3 && shared.replaced == 2)
    }

    @Test(
        "Each connection's own token is replaced by itself, and what signs anew in any case has nothing to replace",
        arguments: [SigningPolicy.perConnection, .every(100), .perPush])
    func replacedOwn(_ policy: SigningPolicy) throws {
        let signer = try TokenSigner(
            identity: identity, policy: policy, shared: SharedToken(), firstConnection: 4, connections: 2)
        for connection in [4, 5] { signer.connectionOpened(connection, unixTime: 1) }
        let first = (bytes(signer, connection: 4, 1), bytes(signer, connection: 5, 1))
        #expect(signer.replace(connection: 4, usedAt: 1, time: 10, unixTime: 2))
        #expect(bytes(signer, connection: 4, 2) != first.0)
        if policy == .perConnection { #expect(bytes(signer, connection: 5, 2) == first.1) }
        #expect(!signer.replace(connection: 4, usedAt: 11, time: 20, unixTime: 2) && signer.tokensReplaced == 1)
    }

    @Test("Policies are read, and wrong ones refused")
    func parsing() throws {
        for (text, policy) in [
            ("cached", SigningPolicy.cached(renewAfterSeconds: 3000)), ("cached:20m", .cached(renewAfterSeconds: 1200)),
            ("per-connection", .perConnection), ("every:7", .every(7)), ("per-push", .perPush),
        ] { #expect(try SigningPolicy(parsing: text) == policy) }
        for text in ["", "cached:19m", "cached:61m", "cached:30", "every:0", "every", "sometimes"] {
            #expect(throws: SigningError.self) { try SigningPolicy(parsing: text) }
        }
    }
}
