import Foundation
import Results
import Settings
import Testing

@testable import Plan

@Suite(.serialized, .waitsForPrograms) struct PlanTests {
    /// A calibration by hand: two runs of each of two settings, 1,000 and 2,000 ns of CPU time a push.
    private static var calibration: CalibrationDocument {
        let samples = [(1, 1000.0), (1, 1020), (100, 2000), (100, 2040)].enumerated().map { index, point in
            CostSample(
                run: "\(index)", engine: "wire", version: "1", machine: "m", threads: 1, connections: point.0,
                streams: 1000, roundTrip: 0, isShaped: false, isBundledMock: true, perSecond: 900_000,
                clientCPU: point.1, mockCPU: 900, clientMemory: 40_000_000 + UInt64(point.0) * 80_000, workerLoad: 0.9,
                service: 1e6, serverTime: nil)
        }
        return CalibrationDocument(madeAt: "2026-11-21T00:00:00Z", samples: samples)
    }

    /// It as a file.
    static func calibration(_ folder: OutputFolder) throws -> String {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let path = folder.path + "/calibration.json"
        try PlanFile.write(calibration, to: path)
        return path
    }

    private static let question = ["plan", "--devices", "200k", "--within", "20s", "--rtt", "80ms", "--cores", "16"]

    @Test("A plan from a calibration: as text, Markdown and JSON, with the figures that follow from its costs")
    func fromCalibration() throws {
        let folder = OutputFolder()
        let path = try Self.calibration(folder)
        let text = try Programs.run("pushload", Self.question + ["--calibration", path, "--goal", "p99 < 1s"])
        #expect(text.status == 0 && text.error.isEmpty, "\(text)")
        #expect(text.output.contains("200,000 devices within 20.0 s at a round trip of 80.0 ms"), "\(text)")
        #expect(text.output.contains("goal p99 < 1s: reached"), "\(text)")
        let json = try Programs.run("pushload", Self.question + ["--from", path, "--json"])
        let plan = try json.read(PlanDocument.self)
        // 20 s less five round trips and slow start; 1,000 streams over 80 ms, 80 % of them used.
        let needed = try #require(plan.needed)
        let segments = 1000 * plan.question.request * (1 + 22.0 / 16_384) / 1448
        let rounds = log2(segments / 10).rounded(.up)
        #expect(abs(needed.edges - 80e6 * (5 + rounds - (exp2(rounds) - 1) * 10 / segments)) < 1, "\(json)")
        let rate = 2e5 / (20 - needed.edges / 1e9)
        #expect(abs((plan.needed?.perSecond ?? 0) - rate) < 1e-6, "\(json)")
        #expect(abs((plan.needed?.connections.value ?? 0) - rate / 10_000) < 1e-6)
        #expect(plan.bounds[0].name == .streams && plan.configuration.connections == 2)
        #expect(plan.needed?.cores.low != nil && abs(plan.simulation.difference ?? 1) < 0.05)
        for goal in [[], ["--goal", "p99 < 1s"]] {
            let late = try Programs.run(
                "pushload", Self.question + ["--from", path, "--connections", "1", "-m", "500"] + goal)
            #expect(late.status == 99 && late.output.contains("within 20.0 s: missed"), "\(late)")
            #expect(!late.output.contains("reached\n"), "\(late)")
        }
        let markdown = try Programs.run("pushload", Self.question + ["--from", path, "--markdown"])
        #expect(markdown.status == 0 && markdown.output.hasPrefix("# 200,000 devices"), "\(markdown)")
    }

    @Test("With a device model a plan has the echo, in text, Markdown and JSON; a peak above its limit ends with 99")
    func echo() throws {
        let folder = OutputFolder()
        let question = Self.question + ["--from", try Self.calibration(folder), "--profile", "silent"]
        let model = folder.path + "/model.yaml"
        try "online: {share: 100%}\n".write(toFile: model, atomically: true, encoding: .utf8)
        let further = ["--device-model", model, "--backend-time", "500ms", "--backend-body", "10kB"]
        let json = try Programs.run("pushload", question + further + ["--json"])
        #expect(json.status == 0 && json.error.isEmpty, "\(json)")
        let plan = try json.read(PlanDocument.self)
        let echo = try #require(plan.echo)
        // Each device fetches at once, wherever the app is.
        let rate = plan.needed?.perSecond ?? 0
        #expect(abs(echo.requests.value - 2e5) < 1e-3 && abs(echo.peak.value - rate) < 1e-6, "\(echo)")
        #expect(abs((echo.open?.value ?? 0) - rate / 2) < 1e-6 && abs((echo.bandwidth ?? 0) - rate * 1e4) < 1e-2)
        #expect(abs(echo.spread - 2e14 / rate) < 1 && echo.deviceModel == model && echo.seed == 1)
        #expect(abs(rate - 2e5 / (20 - (plan.needed?.edges ?? 0) / 1e9)) < 1e-6 && rate > 1e4)
        let missed = try Programs.run("pushload", question + further + ["--goal", "echo.peak < 5k && p99 < 1s"])
        #expect(missed.status == 99 && missed.output.contains("goal p99 < 1s: reached\n"), "\(missed)")
        // 200,000 at 5,000 a second, and what connecting takes.
        #expect(missed.output.contains("goal echo.peak < 5k: missed; it takes 40."), "\(missed)")
        #expect(missed.output.contains(" s, 4,999 pushes a second"), "\(missed)")
        let kept = try Programs.run("pushload", question + further + ["--goal", "echo.peak <= 20k", "--markdown"])
        #expect(kept.status == 0 && kept.output.contains("goal echo.peak <= 20k: reached, 4"), "\(kept)")
        let most =
            "| requests a second, at most | \(Units.grouped(UInt64(rate.rounded()))) |  | from the first push on |"
        #expect(kept.output.contains(most), "\(kept)")
        // Without one nothing is said of it.
        let none = try Programs.run("pushload", question + ["--json"]).read(PlanDocument.self)
        #expect(none.echo == nil)
    }

    @Test("What is wrong with an echo's question is one line, before anything is measured")
    func refusedEcho() throws {
        let folder = OutputFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let model = folder.path + "/model.yaml"
        try "silent: {fetches: 200%}\n".write(toFile: model, atomically: true, encoding: .utf8)
        func refusal(_ further: String...) throws -> String {
            let finished = try Programs.run("pushload", Self.question + further)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        #expect(try refusal("--device-model", model).hasPrefix("pushload: \(model):1:19: "))
        #expect(
            try refusal("--device-model", folder.path + "/none").hasPrefix("pushload: ")
                && refusal("--device-model", "off").contains("off"))
        #expect(
            try refusal("--goal", "echo.peak < 5k")
                == "pushload: goal \"echo.peak < 5k\": without a device model nothing is asked of a backend; give --device-model on\n"
        )
        for goal in ["echo.failed == 0", "echo.p99 < 1s"] {
            #expect(
                try refusal("--device-model", "on", "--goal", goal)
                    == "pushload: goal \"\(goal)\": of the echo a plan predicts its peak, as in echo.peak < 50k\n")
        }
        #expect(
            try refusal("--at", "20:00") == "pushload: --at goes with --device-model, which says what devices ask\n")
        #expect(
            try refusal("--device-model", "on", "--at", "9:00")
                == "pushload: --at 9:00: expected a time of the day, UTC, 00:00 to 23:59, two digits each, such as 09:00\n"
        )
        #expect(
            try refusal("--device-model", "on", "--backend-body", "2GB")
                == "pushload: --backend-body 2GB: expected 0 to 1GB\n")
        #expect(
            try refusal("--device-model", "on", "--backend-time", "soon").hasPrefix(
                "pushload: --backend-time \"soon\": "))
        let judged = try Programs.run(
            "pushload", ["plan", "--rtt", "0", "--connections", "1", "--machines", "1", "--device-model", "on"])
        #expect(
            judged.status == 64
                && judged.error
                    == "pushload: --device-model goes with --devices and --within: an echo is of so many pushes in so long\n",
            "\(judged)")
    }

    @Test(
        "Runs that two calibrations have count once, and are said to be there already; a file named twice is there once"
    )
    func copies() throws {
        let folder = OutputFolder()
        let path = try Self.calibration(folder)
        let copy = folder.path + "/copy.json"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let measured = "(4 runs, 2 settings)"
        let named = try Programs.run(
            "pushload", Self.question + ["--from", path, "--from", folder.path + "/./calibration.json"])
        #expect(named.status == 0 && named.error.isEmpty && named.output.contains(measured), "\(named)")
        let both = try Programs.run("pushload", Self.question + ["--from", path, "--from", copy])
        #expect(both.status == 0 && both.output.contains(measured), "\(both)")
        #expect(both.error.contains("pushload: \(copy): left out 4 runs that an earlier file has too\n"), "\(both)")
    }

    @Test("A plan from a run's folder; a goal that is out of reach ends with 99")
    func fromRuns() throws {
        let folder = OutputFolder()
        for _ in 0..<2 {
            let run = try Programs.run("pushload", ["run", "-n", "200k", "-m", "100", "--output", folder.path])
            #expect(run.status == 0, "\(run)")
        }
        let plan = try Programs.run(
            "pushload", Self.question + ["--from", folder.path, "--goal", "p99 < 10ms", "--json"])
        #expect(plan.status == 99, "\(plan)")
        let document = try plan.read(PlanDocument.self)
        #expect(document.measured.runs == 2 && document.measured.settings == 1 && document.measured.clientCPU.value > 0)
        #expect(document.goals.map(\.held) == [false])
        #expect(document.warnings.contains { $0.hasPrefix("connections were not varied") }, "\(document.warnings)")
    }

    @Test(
        "Costs at a rate and with a mock that answers one by one come from runs; the plan says both, and what loss does"
    )
    func kinds() throws {
        let folder = OutputFolder()
        for further in [
            ["-n", "300k", "-m", "300"], ["-n", "100k", "-m", "300", "--mock-flags", "--answer-batching off"],
            ["-D", "2s", "--rate", "8k"],
        ] {
            let run = try Programs.run("pushload", ["run", "-q", "--output", folder.path] + further)
            #expect(run.status == 0, "\(run)")
        }
        let question = Self.question + ["--from", folder.path]
        let plan = try Programs.run("pushload", question + ["--json"]).read(PlanDocument.self)
        #expect(plan.measured.runs == 3 && plan.measured.settings == 3, "\(plan.measured)")
        #expect((plan.measured.pacedCPU?.value ?? 0) > plan.measured.clientCPU.value, "\(plan.measured)")
        #expect(
            plan.needed?.coresIfSingle != nil && plan.simulation.latencyReplications == 5
                && plan.simulation.p99?.high != nil)
        #expect(plan.measured.contention == nil)
        let lossy = try Programs.run(
            "pushload",
            question + [
                "--json", "--loss", "1%", "--answers", "single", "--jitter", "2ms", "--goaway-every", "10k",
                "--sent-again", "5%",
            ])
        let worse = try lossy.read(PlanDocument.self)
        #expect(worse.bounds[0].name == .loss && worse.needed?.coresIfSingle == nil, "\(lossy)")
        #expect((worse.needed?.connections.value ?? 0) > (plan.needed?.connections.value ?? 0) * 10)
        #expect(
            worse.question.answers == .single && worse.question.goAwayEvery == 10_000 && !worse.question.endsConnections
        )
        let text = try Programs.run("pushload", question)
        #expect(text.output.contains("  answered one by one  ") && text.output.contains(" at that rate, "), "\(text)")
        #expect(text.output.contains("contention between workers was not measured"), "\(text)")
    }

    @Test(
        "Runs too small to say what a push costs, or of rejections, are left out with the reason; of nothing else there is no plan"
    )
    func unfit() throws {
        let folder = OutputFolder()
        for arguments in [["-n", "10"], ["-n", "20k", "--mock-flags", "--reject BadDeviceToken=100%"]] {
            _ = try Programs.run("pushload", ["run", "-q", "--output", folder.path] + arguments)
        }
        let none = try Programs.run("pushload", Self.question + ["--from", folder.path])
        #expect(none.status == 64 && none.output.isEmpty, "\(none)")
        let reasons = [
            ": 10 pushes were accepted; a cost takes at least 10,000\n",
            ": 0 of 20,000 pushes were accepted; a cost takes at least 99 %\n",
        ]
        for reason in reasons { #expect(none.error.contains(reason), "\(none)") }
    }

    @Test("What no machine can do of what was asked for is a plan that is missed, however much it is")
    func absurd() throws {
        let folder = OutputFolder()
        let plan = try Programs.run(
            "pushload",
            [
                "plan", "--devices", "1000G", "--within", "1ns", "--rtt", "0", "--connections", "1", "--machines", "1",
                "--from", try Self.calibration(folder),
            ])
        #expect(plan.status == 99 && plan.error.isEmpty, "\(plan)")
        #expect(plan.output.contains("within 1.00 ns: missed, the devices take "), "\(plan)")
    }

    @Test("What cannot be planned ends with 64 and one line")
    func refused() throws {
        let folder = OutputFolder()
        let path = try Self.calibration(folder)
        func refusal(_ arguments: [String]) throws -> String {
            let finished = try Programs.run("pushload", ["plan", "--cores", "4"] + arguments)
            #expect(finished.status == 64 && finished.output.isEmpty, "\(finished)")
            return finished.error
        }
        func question(_ devices: String, _ within: String, _ further: String...) throws -> String {
            try refusal(["--devices", devices, "--within", within, "--calibration", path, "--rtt", "0"] + further)
        }
        for devices in ["0", "1000000000000000000"] {
            #expect(try question(devices, "60s") == "pushload: --devices \(devices): expected 1 to 1000G\n")
        }
        #expect(
            try question("1000G", "1ns").hasSuffix(
                "; a million of each are the most: give it more time or more streams\n"))
        #expect(
            try question("1M", "60s", "--json", "--markdown") == "pushload: --json and --markdown: give one of them\n")
        #expect(try question("1M", "0s") == "pushload: --within 0s: expected more than 0, such as 60s\n")
        #expect(
            try question("1M", "100ms", "--rtt", "80ms")
                == "pushload: within 100 ms: connecting and the last answers alone take 714 ms; expected more\n")
        #expect(
            try question("1M", "60s", "--goal", "p99")
                == "pushload: --goal \"p99\": expected a comparison (<, <=, >, >=, ==), as in p99 < 50ms\n")
        #expect(
            try question("1M", "60s", "--goal", "accepted > 3")
                == "pushload: goal \"accepted > 3\": a plan predicts total, service and round_trip latencies, rate, rss and cpu, and echo.peak\n"
        )
        #expect(
            try question("1M", "60s", "--server-time", "soon").hasPrefix(
                "pushload: --server-time \"soon\": expected for example"))
        #expect(
            try question("1M", "60s", "--answers", "fast") == "pushload: --answers fast: expected batched or single\n")
        for share in ["60%", "150%", "some"] {
            #expect(
                try question("1M", "60s", "--loss", share) == "pushload: --loss \(share): expected 0% to 5%\n")
        }
        #expect(
            try question("1M", "60s", "--rtt", "80ms", "--jitter", "81ms")
                == "pushload: --jitter 81ms: expected at most 80ms, the round trip (--rtt), on top of which it comes\n")
        #expect(
            try question("1M", "60s", "--jitter", "1ms")
                == "pushload: --jitter 1ms: expected at most 0s, the round trip (--rtt), on top of which it comes\n")
        #expect(
            try question("1M", "60s", "--loss", "1%")
                == "pushload: --loss goes with --rtt above 0: what is lost is sent again a round trip later\n")
        #expect(
            try question("1M", "60s", "--loss", "1")
                == "pushload: --loss 1: expected 0% to 5%; it is a share: for 1 per cent write 1%\n")
        #expect(try question("1M", "60s", "--sent-again", "95%") == "pushload: --sent-again 95%: expected 0% to 90%\n")
        #expect(try question("1M", "60s", "--goaway-every", "0").hasPrefix("pushload: --goaway-every 0: expected 1 to"))
        for text in ["1000:1s/2s", "5:2s/2s", "5", "x:1s/2s", "0:1s/2s"] {
            #expect(
                try question("1M", "60s", "--fewer-streams", text)
                    == "pushload: --fewer-streams \(text): expected streams:time/period, as in 100:1s/10s, with fewer than "
                    + "--streams (1000) and a time shorter than the period\n")
        }
        #expect(
            try question("1M", "60s", "--bandwidth", "fast").hasPrefix(
                "pushload: --bandwidth: \"fast\" is not a bandwidth"))
        #expect(
            try question("1M", "60s", "--mock-threads", "1")
                == "pushload: --mock-threads: the bundled mock is on the client's machine; give --machines 1\n")
        #expect(
            try refusal(["--devices", "1M", "--within", "60s", "--calibration", path])
                == "pushload: plan: expected --rtt, the round-trip time to the server, such as --rtt 80ms; 0 on this machine\n"
        )
        #expect(
            try refusal([])
                == "pushload: plan: expected --devices, --within and --rtt, as in --devices 100M --within 60s --rtt 80ms; or "
                + "--connections, --machines and --rtt to judge these\n")
        #expect(
            try refusal(["--devices", "5"]).hasPrefix("pushload: plan: expected --within and --rtt, the round-trip"))
        #expect(
            try refusal(["--rtt", "0", "--devices", "5"]) == "pushload: plan: --devices and --within go together\n")
        #expect(
            try refusal(["--rtt", "0"])
                == "pushload: plan: expected --devices and --within, or --connections and --machines to judge\n")
        let plain = ["--devices", "1M", "--within", "60s", "--rtt", "0", "--from"]
        let missing = folder.path + "/none"
        #expect(
            try refusal(plain + [missing])
                == "pushload: \(missing): no such file or folder; expected results or a calibration to plan with\n")
        let truncated = folder.path + "/result.json"
        for (contents, problem) in [
            ("{\"schema\": ", "not complete JSON; the file is truncated or damaged"),
            ("{\"schema\": \"pushload.result/1\"}", "schema pushload.result/1; this version reads pushload.result/3"),
            (
                "{\"schema\": \"pushload.calibration/9\"}",
                "schema pushload.calibration/9; this version reads pushload.calibration/1"
            ),
            ("{}", "not a pushload result: \"schema\" is missing or foreign"),
        ] {
            try contents.write(toFile: truncated, atomically: true, encoding: .utf8)
            #expect(try refusal(plain + [truncated]) == "pushload: \(truncated): \(problem)\n")
        }
    }
}
