import Foundation
import Testing

@Suite(.waitsForPrograms) struct HelpTests {
    private func output(_ program: String, _ arguments: [String]) throws -> String {
        let finished = try Programs.start(program, arguments, environment: ["COLUMNS": "80"]).wait()
        #expect(finished.status == 0 && finished.error.isEmpty, "\(arguments): \(finished)")
        return finished.output
    }

    /// The long names of the flags that a help page lists.
    private func flags(_ help: String) -> Set<String> {
        var flags: Set<String> = []
        for line in help.split(separator: "\n") where line.hasPrefix("  -") {
            for word in line.split(whereSeparator: { " ,/".contains($0) }) where word.hasPrefix("--") {
                flags.insert(String(word))
            }
        }
        return flags
    }

    @Test("Both programs have one version")
    func version() throws {
        let version = try output("pushload", ["--version"])
        #expect(try output("mock-apns", ["--version"]) == version && version.contains("."))
    }

    @Test("run --help lists the flags of daily use after three examples, --help-all every flag with its default")
    func run() throws {
        let short = try output("pushload", ["run", "--help"])
        let all = try output("pushload", ["run", "--help-all"])
        for flag in [
            "--pushes", "--duration", "--rate", "--connections", "--target", "--allow-target", "--output",
            "--registrations",
            "--audience",
        ] {
            #expect(flags(short).contains(flag), "\(flag)")
        }
        for flag in ["--tls-min", "--ping-timeout", "--collapse-id", "--abort-on-fail-window"] {
            #expect(!flags(short).contains(flag) && flags(all).contains(flag), "\(flag)")
        }
        #expect(flags(short).isSubset(of: flags(all)) && flags(short).count <= 25, "\(flags(short))")
        let top = short.prefix { $0 != "<" }
        #expect(top.components(separatedBy: "\n  pushload run ").count == 4, "\(top)")
        #expect(short.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(short)")
        let words = all.split(whereSeparator: { " \n".contains($0) }).joined(separator: " ")
        for part in [
            "Worker threads. (1 to 256; default: 1)", "(65535B to", "default: 1MiB)",
            "PING: the peer has vanished. (default: 5s)",
            "TCP_NODELAY. (default: on)", "(1 to 1,000,000; default: 1000)", "(0% to 100%; default: 10%)",
        ] { #expect(words.contains(part), "\(part)") }
    }

    @Test("search, scenario schedule and token list only what they use")
    func others() throws {
        let schedule = flags(try output("pushload", ["scenario", "schedule", "--help-all"]))
        #expect(schedule.isSuperset(of: ["--rate", "--stages", "--trace", "--arrivals", "--seed"]))
        #expect(schedule.isDisjoint(with: ["--connections", "--profile", "--threshold", "--topic"]), "\(schedule)")
        let token = flags(try output("pushload", ["token", "--help-all"]))
        #expect(token.isDisjoint(with: ["--cert", "--cacert", "--no-auth", "--sign-policy"]), "\(token)")
        let search = flags(try output("pushload", ["search", "--help-all"]))
        #expect(search.isSuperset(of: ["--goal", "--rate", "--connections", "--target"]))
        #expect(search.isDisjoint(with: ["--pushes", "--duration", "--stages", "--trace", "--threshold"]), "\(search)")
    }

    @Test(
        "A misspelt command, or flag that has to be there, is named with the nearest one",
        arguments: [
            (["audience", "cuont", "*"], "no command \"cuont\" of pushload audience; did you mean \"count\"?"),
            (
                ["audience", "count", "*", "--registratons", "r.csv"],
                "unknown option \"--registratons\"; did you mean \"--registrations\"?"
            ),
            (["runn", "-n", "5"], "no command \"runn\"; did you mean \"run\"?"),
            (["audence"], "no command \"audence\"; did you mean \"audience\"?"),
            (
                ["scenario", "x"],
                "no command \"x\" of pushload scenario; expected one of init, check, list, show, schedule"
            ),
        ])
    func misspelt(_ arguments: [String], _ line: String) throws {
        let finished = try Programs.run("pushload", arguments)
        #expect(
            finished.status == 64 && finished.output.isEmpty && finished.error == "pushload: \(line)\n", "\(finished)")
    }

    @Test("Subcommands are grouped; old names are gone")
    func doors() throws {
        let help = try output("pushload", ["--help"])
        for group in ["RUN", "JUDGE", "EXPLORE", "PLAN", "LOOK", "MOCK"] {
            #expect(help.contains("\(group) SUBCOMMANDS"))
        }
        for name in ["init", "check", "scenarios", "schedule", "sweeps"] {
            #expect(try Programs.run("pushload", [name]).status == 64, "\(name)")
        }
    }
}
