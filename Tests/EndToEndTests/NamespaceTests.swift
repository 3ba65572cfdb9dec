import Foundation
import Signing
import Testing

/// Several test suites against one mock.
@Suite(.serialized, .waitsForPrograms) struct NamespaceTests {
    private let device = ReasonTests.device

    private func admin(_ mock: Mock, _ method: String, _ path: String, _ body: String? = nil) throws -> String {
        try Programs.run(
            "/usr/bin/curl",
            ["-s", "-X", method, "http://127.0.0.1:\(try mock.port(of: "admin"))\(path)"]
                + (body.map { ["--data-binary", $0] } ?? [])
        ).output
    }

    private func topics(_ mock: Mock, _ query: String) throws -> [String] {
        let text = try admin(mock, "GET", "/pushes" + query)
        let list = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]], "\(text)")
        return list.compactMap { $0["topic"] as? String }
    }

    private func stats(_ mock: Mock, _ query: String) throws -> [String: Any] {
        let text = try admin(mock, "GET", "/stats" + query)
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    private func push(_ mock: Mock, _ topic: String, _ change: (inout ReasonTests.Request) -> Void = { _ in }) throws
        -> String
    {
        var request = ReasonTests.Request.with { $0.headers = ["apns-topic: \(topic)"] }
        change(&request)
        return String(try #require(try ReasonTests.curl(mock, [request]).last).suffix(3))
    }

    @Test("Each bundle id has devices, rules, counts, kept pushes and a reset of its own")
    func topics() throws {
        let mock = try Mock(["--admin-port", "0", "--namespace-by", "topic", "--threads", "2"])
        #expect(
            try admin(mock, "PUT", "/faults?namespace=com.b", "{rules: [{reject: 503}], seed: 7}")
                == "rules 1, seed 7\n")
        #expect(try admin(mock, "PUT", "/devices/\(device)?namespace=com.c", "{state: unregistered}") == "changed\n")
        // Whatever thread the connection comes to.
        for _ in 0..<4 {
            #expect(try push(mock, "com.a") == "200" && push(mock, "com.b") == "503" && push(mock, "com.c") == "410")
        }
        #expect(try push(mock, "com.a.voip") { $0.headers.append("apns-push-type: voip") } == "200")
        #expect(try push(mock, "com.a") { $0.headers = [] } == "400")
        #expect(try topics(mock, "").count == 14 && topics(mock, "?namespace=*").count == 14)
        #expect(try topics(mock, "?namespace=com.a") == ["com.a", "com.a", "com.a", "com.a", "com.a.voip"])
        #expect(try topics(mock, "?namespace=") == [""])
        let (all, own) = (try stats(mock, ""), try stats(mock, "?namespace=com.b"))
        #expect(all["requests"] as? Int == 14 && all["accepted"] as? Int == 5 && all["namespace"] == nil)
        let names = (all["namespaces"] as? [String: Any])?["names"] as? [String]
        #expect(Set(names ?? []) == ["com.a", "com.b", "com.c"], "\(all)")
        #expect(own["requests"] as? Int == 4 && own["reasons"] as? [String: Int] == ["ServiceUnavailable": 4])
        #expect(own["namespace"] as? String == "com.b" && own["fault_seed"] as? Int == 7)
        #expect(try admin(mock, "POST", "/reset?namespace=com.c") == "reset\n")
        #expect(try push(mock, "com.c") == "200" && push(mock, "com.b") == "503")
        #expect(try topics(mock, "?namespace=com.c") == ["com.c"] && topics(mock, "?namespace=com.b").count == 5)
        // A reset without a name is the default one's.
        #expect(try admin(mock, "POST", "/reset") == "reset: the default namespace (?namespace=* for all)\n")
        #expect(try topics(mock, "?namespace=") == [] && topics(mock, "").count == 11)
        #expect(try admin(mock, "PUT", "/faults?namespace=*", "{rules: [{reject: 500}]}").hasPrefix("rules 1"))
        #expect(try push(mock, "com.a") == "500" && push(mock, "com.later") == "500")
        #expect(try admin(mock, "POST", "/reset?namespace=*") == "reset\n")
        #expect(try stats(mock, "")["requests"] as? Int == 0 && topics(mock, "") == [])
        _ = try mock.stop()
    }

    @Test(
        "A namespace is made by a push with a valid token or by a change, up to a thousand; a reset of all forgets the empty ones"
    )
    func making() throws {
        let mock = try Mock(["--admin-port", "0", "--namespace-by", "topic", "--threads", "2"])
        func names() throws -> [String] {
            try #require((try stats(mock, "")["namespaces"] as? [String: Any])?["names"] as? [String])
        }
        for number in 0..<4 {
            #expect(try push(mock, "com.bad\(number)") { $0.authorization = "" } == "403")
            #expect(try push(mock, "com.bad\(number)") { $0.authorization = "bearer a.b.c" } == "403")
        }
        #expect(try names() == [] && topics(mock, "?namespace=").count == 8)
        let made = try admin(mock, "POST", "/reset?namespace=com.app[1-999]")
        #expect(try names().count == 999, "\(made.suffix(200))")
        #expect(try push(mock, "com.own") == "200" && names().count == 1000)
        #expect(try push(mock, "com.own") { $0.authorization = "" } == "403")
        #expect(try topics(mock, "?namespace=com.own").count == 2)
        // Those that are too many are the default one's, each of them counted.
        let late = ReasonTests.Request.with { $0.headers = ["apns-topic: com.late"] }
        #expect(try ReasonTests.curl(mock, Array(repeating: late, count: 7)).count == 7)
        #expect((try stats(mock, "")["namespaces"] as? [String: Any])?["beyond_limit"] as? Int == 7)
        #expect(try topics(mock, "?namespace=").count == 15)
        #expect(
            try admin(mock, "PUT", "/faults?namespace=com.app7", "{rules: [{reject: 503}], seed: 7}")
                == "rules 1, seed 7\n")
        #expect(try admin(mock, "POST", "/reset?namespace=*") == "reset\n" && names() == ["com.app7"])
        #expect((try stats(mock, "")["namespaces"] as? [String: Any])?["beyond_limit"] as? Int == 0)
        for _ in 0..<4 { #expect(try push(mock, "com.late") == "200" && push(mock, "com.app7") == "503") }
        #expect(try topics(mock, "?namespace=com.late").count == 4 && names() == ["com.app7", "com.late"])
        _ = try mock.stop()
    }

    @Test("A mistyped namespace is not taken for an empty one, and nothing that is read makes one")
    func mistyped() throws {
        let mock = try Mock(["--admin-port", "0", "--namespace-by", "topic"])
        #expect(try push(mock, "com.example.app") == "200")
        let answer = "no push has come for it, and nothing was changed in it"
        for path in ["/pushes?", "/pushes?wait=10ms&", "/stats?", "/devices/\(device)?"] {
            let text = try admin(mock, "GET", path + "namespace=com.exmaple.app")
            let page = path.prefix { $0 != "?" }
            #expect(
                text
                    == "\(page): namespace \"com.exmaple.app\": \(answer); did you mean \"com.example.app\"?\n")
        }
        // Who waits for the first push of one does.
        let port = try mock.port(of: "admin")
        let waiting = try Programs.start(
            "/usr/bin/curl", ["-s", "http://127.0.0.1:\(port)/pushes?namespace=com.new&wait=60s"])
        while try stats(mock, "")["events"].flatMap({ ($0 as? [String: Any])?["waiting"] as? Int }) != 1 {
            usleep(10_000)
        }
        #expect((try stats(mock, "")["namespaces"] as? [String: Any])?["names"] as? [String] == ["com.example.app"])
        #expect(try push(mock, "com.new") == "200")
        try waiting.waitFor("\"topic\":\"com.new\"")
        // One that was begun anew is there, and nothing came.
        #expect(try admin(mock, "POST", "/reset?namespace=com.third") == "reset\n")
        #expect(try topics(mock, "?namespace=com.third&wait=10ms") == [])
        _ = try mock.stop()
    }

    @Test(
        "A plan can be read with the counts of its rules, and taken away; one of a namespace has nothing of the server's"
    )
    func plans() throws {
        let mock = try Mock(["--admin-port", "0", "--namespace-by", "topic", "--fault-seed", "3"])
        #expect(try admin(mock, "GET", "/faults") == "{\"counted\":[],\"rules\":0,\"seed\":3}\n")
        for (plan, problem) in [
            (
                "{link: {rtt: 9ms}}",
                "faults:1:2: \"link\" is the server's: it belongs into the plan of the default namespace"
            ),
            (
                "{connections: {}}",
                "faults:1:2: \"connections\" is the server's: it belongs into the plan of the default namespace"
            ),
            (
                "{rules: [{topic: com.b, silent: 1%}]}",
                "faults:1:10: rules[0]: \"topic\": no request of namespace com.a has such a topic"
            ),
            (
                "{rules: [{topic: com.aa*, silent: 1%}]}",
                "faults:1:10: rules[0]: \"topic\": no request of namespace com.a has such a topic"
            ),
        ] {
            #expect(try admin(mock, "PUT", "/faults?namespace=com.a", plan) == problem + "\n")
        }
        let plan =
            "{seed: 1, rules: [{topic: [com.a.voip, com*, com.a.v*], next: 2, times: 1, reject: 503}, {then: [200, 500]}, {silent: 0%}]}"
        #expect(try admin(mock, "PUT", "/faults?namespace=com.a", plan) == "rules 3, seed 1\n")
        for answer in ["503", "200", "500", "200"] { #expect(try push(mock, "com.a") == answer) }
        let rules =
            "[{\"acted\":1,\"left\":false,\"matched\":1,\"rule\":0},{\"left\":false,\"matched\":2,\"rule\":1}]"
        #expect(
            try admin(mock, "GET", "/faults?namespace=com.a")
                == "{\"counted\":\(rules),\"plan\":\"\(plan)\",\"rules\":3,\"seed\":1}\n")
        #expect(try admin(mock, "GET", "/faults?namespace=com.c").hasPrefix("/faults: namespace \"com.c\": no push"))
        #expect(try admin(mock, "GET", "/faults?namespace=*") == "/faults: namespace \"*\": expected the name of one\n")
        #expect(try admin(mock, "DELETE", "/faults?namespace=com.a") == "rules 0, seed 3\n")
        #expect(try push(mock, "com.a") == "200")
        // It holds nothing any more.
        #expect(try admin(mock, "POST", "/reset?namespace=*") == "reset\n")
        #expect((try stats(mock, "")["namespaces"] as? [String: Any])?["names"] as? [String] == [])
        #expect(
            try admin(mock, "PUT", "/faults?namespace=*", "{seed: 9, rules: [{reject: 503}]}") == "rules 1, seed 9\n")
        #expect(try admin(mock, "DELETE", "/faults").hasPrefix("rules 0, seed "))
        #expect(try push(mock, "com.a") == "503" && admin(mock, "DELETE", "/faults?namespace=*").hasPrefix("rules 0"))
        #expect(try push(mock, "com.a") == "200")
        _ = try mock.stop()
    }

    @Test("What is changed without a name is said to be the default namespace's")
    func unnamed() throws {
        let mock = try Mock(["--admin-port", "0", "--namespace-by", "topic"])
        #expect(
            try admin(mock, "PUT", "/devices/\(device)", "{offline: true}")
                == "changed: the default namespace (?namespace=NAME for another)\n")
        #expect(
            try admin(mock, "PUT", "/faults", "{rules: [], seed: 3}")
                == "rules 0, seed 3: the default namespace (?namespace=* for all)\n")
        #expect(try admin(mock, "POST", "/reset?namespace=") == "reset\n")
        _ = try mock.stop()
    }

    @Test("--store-capacity is of all namespaces together")
    func store() throws {
        let mock = try Mock([
            "--admin-port", "0", "--namespace-by", "topic", "--offline", "100%", "--store-capacity", "2",
        ])
        #expect(try push(mock, "com.a") == "200" && push(mock, "com.b") == "200" && push(mock, "com.c") == "500")
        #expect(try admin(mock, "POST", "/reset?namespace=com.a") == "reset\n")
        #expect(try push(mock, "com.c") == "200" && push(mock, "com.a") == "500")
        #expect(try admin(mock, "POST", "/reset?namespace=*") == "reset\n")
        #expect(try push(mock, "com.d") == "200" && push(mock, "com.e") == "200" && push(mock, "com.f") == "500")
        _ = try mock.stop()
    }

    @Test("A late answer is counted where its push was")
    func lateAnswers() throws {
        let mock = try Mock(["--admin-port", "0", "--namespace-by", "topic", "--latency", "100ms"])
        #expect(try push(mock, "com.a") == "200" && push(mock, "com.b") == "200" && push(mock, "com.b") == "200")
        #expect(try stats(mock, "?namespace=com.a")["accepted"] as? Int == 1)
        #expect(try stats(mock, "?namespace=com.b")["accepted"] as? Int == 2)
        #expect(try stats(mock, "?namespace=")["accepted"] as? Int == 0)
        _ = try mock.stop()
    }

    @Test("Events are those of one namespace when it is named, and say whose they are")
    func events() throws {
        let mock = try Mock(["--admin-port", "0", "--namespace-by", "topic"])
        let port = try mock.port(of: "admin")
        func stream(_ query: String) throws -> Running {
            let stream = try Programs.start(
                "/usr/bin/curl", ["-sN", "--max-time", "60", "http://127.0.0.1:\(port)/events\(query)"])
            try stream.waitFor(": ready")
            return stream
        }
        let (all, one) = (try stream(""), try stream("?token=\(device)&namespace=com.b"))
        for topic in ["com.a", "com.b"] { #expect(try push(mock, topic) == "200") }
        try all.waitFor("\"namespace\":\"com.b\"")
        try one.waitFor("\"namespace\":\"com.b\"")
        #expect(all.text.contains("\"namespace\":\"com.a\"") && !one.text.contains("com.a"))
        for stream in [all, one] { kill(stream.process.processIdentifier, SIGTERM) }
        _ = try mock.stop()
    }

    @Test("Each port of --namespace-port has a namespace, called by it")
    func ports() throws {
        let flags = ["--namespace-by", "port", "--namespace-port", "0", "--namespace-port", "0"]
        let mock = try Mock(["--admin-port", "0"] + flags)
        let lines = mock.running.text.split(separator: "\n").filter { $0.hasPrefix("namespace ") }
        let ports = lines.compactMap { $0.split(separator: ":").last.map(String.init) }
        #expect(ports.count == 2 && lines.map { $0.split(separator: " ")[1] } == ports.map { $0[...] }, "\(lines)")
        #expect(
            try admin(mock, "PUT", "/faults?namespace=\(ports[1])", "{rules: [{reject: 503}]}").hasPrefix("rules 1"))
        #expect(try push(mock, "com.main") == "200")
        #expect(try push(mock, "com.first") { $0.port = ports[0] } == "200")
        #expect(try push(mock, "com.second") { $0.port = ports[1] } == "503")
        #expect(try topics(mock, "?namespace=") == ["com.main"])
        #expect(try topics(mock, "?namespace=\(ports[0])") == ["com.first"])
        #expect(try topics(mock, "?namespace=\(ports[1])") == ["com.second"])
        #expect(
            try admin(mock, "GET", "/stats?namespace=1")
                == "/stats: namespace \"1\": no --namespace-port is this one; expected \(ports.joined(separator: ", "))\n"
        )
        _ = try mock.stop()
    }

    @Test("Each team has a namespace, whatever its keys; a token that is not valid is in the default one")
    func teams() throws {
        let folder = try OutputFolder.made()
        let key = folder.path + "/other.p8"
        let made = try Programs.run(
            "/usr/bin/openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key])
        #expect(made.status == 0, "\(made)")
        let keys = folder.path + "/keys.yaml"
        try "- {key: other.p8, key_id: OTHERKEY00, team_id: OTHERTEAM0}\n".write(
            toFile: keys, atomically: true, encoding: .utf8)
        let mock = try Mock(["--admin-port", "0", "--namespace-by", "team", "--keys", keys])
        let other = try ProviderIdentity(
            key: ProviderKey(pem: Credentials.read(key), origin: key), keyID: "OTHERKEY00", teamID: "OTHERTEAM0")
        let token = try TokenSigner.bearer(other, unixTime: Int64(Date().timeIntervalSince1970))
        let team = try mock.identity().teamID
        // The second on each connection comes with a token that is known there.
        let request = ReasonTests.Request.with { $0.headers = ["apns-topic: com.own"] }
        #expect(try ReasonTests.curl(mock, [request, request]) == [" 200", " 200"])
        let foreign = ReasonTests.Request.with {
            $0.headers = ["apns-topic: com.other"]
            $0.authorization = token
        }
        #expect(try ReasonTests.curl(mock, [foreign, foreign]) == [" 200", " 200"])
        #expect(try push(mock, "com.bad") { $0.authorization = "bearer a.b.c" } == "403")
        #expect(try topics(mock, "?namespace=\(team)") == ["com.own", "com.own"])
        #expect(try topics(mock, "?namespace=OTHERTEAM0") == ["com.other", "com.other"])
        #expect(try topics(mock, "?namespace=") == ["com.bad"])
        #expect(try admin(mock, "GET", "/pushes?namespace=TEAM").contains("no key is of this team; expected "))
        _ = try mock.stop()
    }

    @Test("Flags and names that cannot be meant are refused in words")
    func refusals() throws {
        for (flags, expected) in [
            (["--namespace-by", "app"], "--namespace-by app: expected one of team, topic, port"),
            (["--namespace-by", "port"], "--namespace-by port: expected 1 to 12 times --namespace-port"),
            (["--namespace-port", "0"], "--namespace-port needs --namespace-by port"),
            (["--namespace-by", "team", "--namespace-port", "0"], "--namespace-port needs --namespace-by port"),
            (
                ["--namespace-by", "team"],
                "--namespace-by team: no team is known; give --credentials, --key or --keys"
            ),
            (
                ["--namespace-by", "topic", "--device-model", "on"],
                "--namespace-by topic: devices of a model have no namespaces; leave out --device-model"
            ),
        ] {
            let finished = try Programs.run("mock-apns", ["--port", "0"] + flags)
            #expect(finished.status == 64 && finished.error == "mock-apns: \(expected)\n", "\(finished)")
        }
        let mock = try Mock(["--admin-port", "0", "--namespace-by", "topic"])
        #expect(
            try admin(mock, "GET", "/stats?namespace=a%20b")
                == "/stats: namespace \"a b\": expected a bundle id, as in com.example.app\n")
        #expect(
            try admin(mock, "GET", "/pushes?namespace=com.a.voip")
                == "/pushes: namespace \"com.a.voip\": expected a bundle id without a push type's suffix: com.a\n")
        #expect(
            try admin(mock, "PUT", "/devices/\(device)?namespace=*", "{offline: true}")
                == "/devices/\(device): namespace \"*\": expected the name of one\n")
        _ = try mock.stop()
    }
}
