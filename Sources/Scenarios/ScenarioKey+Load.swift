import Payloads
import Settings

/// What is sent, when and to whom, and what is kept and judged of it.
extension ScenarioKey {
    static let load: [ScenarioKey] = [
        text("name", "Name of the run, part of the result's folder.", \.name),
        ScenarioKey(
            "pushes", .count, "Pushes to send, such as 5000, 10k or 1M.", range: "1 to 1,099,511,627,776",
            example: "100k",
            write: { $0.pushes.map(Units.written(count:)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.pushes = try read(texts, Units.count)
        },
        ScenarioKey(
            "duration", .duration, "Send for so long, such as 500ms, 10s, 5m or 1h.", range: "at most 30 days",
            example: "30s", write: { $0.duration.map(Units.written(duration:)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.duration = try read(texts, Units.duration)
        },
        ScenarioKey(
            "until", .text,
            "Go on until a figure of total latency is known so well, such as p99 +- 2 %: warm-up and length are found by the run itself; at most --budget (60s), then it ends with 98.",
            range: "p50, p90, p99 or p99.9, +- 0.1 % to 50 %", example: "p99 +- 2 %", write: { $0.until }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.until = try Precision(parsing: try one(texts)).text
        },
        ScenarioKey(
            "budget", .duration, "With until: how long the run may take at most; 60s where it is not given.",
            range: "at least 1s, at most 30 days", example: "60s", write: { $0.budget.map(Units.written(duration:)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.budget = try read(texts, Units.duration)
        },
        duration(
            "drain",
            "After the duration: how long open pushes may still be answered; late ones may leave for a tenth of it.",
            \.drain),
        whole("connections", Scenario.Limits.connections, "Connections, over all threads.", \.connections),
        whole("streams", Scenario.Limits.streams, "Most streams open at once on a connection.", \.streams),
        whole("threads", Scenario.Limits.threads, "Worker threads.", \.threads),
        optional(
            "pin",
            "Pin worker threads to these cores, as 2-5 or 0,2, one each in turn; without it, the system places them.",
            example: "2-5", \.pin),
        ScenarioKey(
            "rate", .rate, "Pushes a second, such as 500 or 20k; without it, as fast as the streams allow.",
            range: "0.000001 to 1G", example: "20k",
            write: { $0.rate.map { $0 == $0.rounded() ? Units.written(count: UInt64($0)) : "\($0)" } }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.rate = try read(texts, Units.rate)
        },
        ScenarioKey(
            "stages", .list,
            "Rates over time: ramp 1k 20k 10s, hold 20k 30s, burst 100k, pause 5s, sine 10k 5k 10s 60s, step 1k 9k 5 50s.",
            example: "[ramp 1k 20k 10s, hold 20k 30s]", write: { listed($0.stages.map(\.text)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.stages = []
            for text in texts { scenario.stages += try LoadStage.parse(text) }
        },
        ScenarioKey(
            "arrivals", .text, "How pushes are spread around the rate: constant, poisson, jitter or jitter:50%.",
            write: { $0.arrivals }
        ) { (scenario, texts) throws(SettingsError) in
            let text = try one(texts)
            _ = try Arrivals(parsing: text)
            scenario.arrivals = text
        },
        optional(
            "trace",
            "File of recorded due times to replay: one a line with its unit (1.5s, 20ms), or the first column of a CSV under "
                + "a header that names it (due_s, due_ms).",
            example: "due-times.csv", \.trace),
        optional(
            "replay",
            "Recording of what a provider sent, as mock-apns writes it, to send again: the same times, types, sizes, priorities, topics, devices and connections.",
            example: "monday.pushes", \.replay),
        ScenarioKey(
            "speed", .text, "Replay: as many times as fast as it was recorded.", range: "0.01 to 1000",
            write: { $0.speed == $0.speed.rounded() ? "\(Int($0.speed))" : "\($0.speed)" }
        ) { (scenario, texts) throws(SettingsError) in
            guard let value = Double(try one(texts)), Scenario.Limits.speed.contains(value) else {
                throw SettingsError("\"\(texts[0])\": expected a number from 0.01 to 1000")
            }
            scenario.speed = value
        },
        optional(
            "replay_check",
            "Replay: which recording it has to be, as results and scenario schedule name it; another one is refused.",
            example: "f72355fa02c3be5b", \.replayCheck),
        count(
            "backlog", "Open loop: pushes that may wait although they are due; more overflow and are not sent.",
            range: "at least 1", \.backlog),
        choice(
            "pacing", Scenario.pacings,
            "Open loop: how a worker waits for a push to be due: sleep, spin (punctual, keeps its core busy), or auto (spin where a core is left over).",
            \.pacing),
        ScenarioKey(
            "warmup", .text,
            "Leave out of rate and latencies what is due within this time (5s), the first so many pushes (10k pushes), or what comes before rate and latency are steady (auto).",
            write: {
                $0.warmupAuto
                    ? "auto"
                    : $0.warmupPushes > 0
                        ? "\(Units.written(count: $0.warmupPushes)) pushes" : Units.written(duration: $0.warmup)
            }
        ) { (scenario, texts) throws(SettingsError) in
            let text = try one(texts)
            scenario.warmupAuto = text == "auto"
            if text == "auto" {
                (scenario.warmup, scenario.warmupPushes) = (0, 0)
            } else if text.hasSuffix("pushes") {
                scenario.warmupPushes = try read([text.dropLast(6).filter { $0 != " " }], Units.count)
            } else {
                do throws(SettingsError) { scenario.warmup = try read(texts, Units.duration) } catch {
                    // A number of pushes that does not say so.
                    guard (try? Units.duration(text)) == nil, (try? Units.count(text)) != nil else { throw error }
                    throw SettingsError("\(error), or \(text) pushes")
                }
            }
        },
        ScenarioKey(
            "by", .list,
            "Keep outcomes and latency apart by status, connection, or the device's tag that begins so (tag:location_).",
            example: "[status, tag:location_]", write: { listed($0.by) }
        ) { (scenario, texts) throws(SettingsError) in
            let words = words(texts)
            for word in words { _ = try BreakdownDimension(parsing: word) }
            scenario.by = words
        },
        flag("measure", "Time and record the stages of pushes; false only to find out what that costs.", \.measure),
        ScenarioKey(
            "profile", .text,
            "alert, silent, rich, rich-push, live-activity, voip, or a weighted mix such as alert:80,silent:15,rich:5.",
            write: { $0.profile.isEmpty ? nil : $0.profile }
        ) { (scenario, texts) throws(SettingsError) in
            let text = try one(texts)
            do throws(PayloadError) { _ = try ProfileMix(parsing: text) } catch {
                throw SettingsError(error.description)
            }
            scenario.profile = text
        },
        optional(
            "template", "File with a payload template instead of a profile: JSON with {{holes}}.",
            example: "push.json", \.template),
        text("push_type", "apns-push-type of the template.", \.pushType),
        ScenarioKey(
            "devices", .count,
            "Devices of the synthetic population, such as 1M; in a file also {registrations: FILE, audience: EXPRESSION}.",
            range: "at least 1", write: { Units.written(count: $0.devices) }
        ) { (scenario, texts) throws(SettingsError) in
            guard texts.first?.first != "{" else {
                throw SettingsError("a map only in a file: give --registrations and --audience instead")
            }
            scenario.devices = try read(texts, Units.count)
        },
        optional(
            "device_file", "File of device tokens, one a line, or CSV with token and tags.", example: "tokens.csv",
            \.deviceFile),
        optional(
            "registrations",
            "File of registrations, CSV or NDJSON: device tokens with tags; see pushload audience.",
            example: "registrations.csv", \.registrations),
        optional(
            "audience",
            "Which registrations are pushed to: tags with && || ! and parentheses, or * for all; each once, unless pushes, a duration, stages or a trace say otherwise.",
            example: "follows_RedSox && location_Boston", \.audience),
        ScenarioKey(
            "sends", .list,
            "Several sends in one run: maps with name, audience and, where wanted, start, priority, profile or template, properties, collapse_id, repeat and every.",
            example: "[{name: news, audience: follows_RedSox, start: 2s, priority: 10}]",
            write: { listed($0.sends.map(\.text)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.sends = []
            for text in texts { scenario.sends += try SendSetting.list(parsing: text) }
        },
        choice(
            "environment", Scenario.environments,
            "Which registrations are pushed to, where their file says it: production, development or any.",
            \.environment),
        optional(
            "templates",
            "Notification Hubs templates that registrations or sends name: a folder of NAME.json, or a file.",
            example: "templates", \.templates),
        ScenarioKey(
            "properties", .list, "What goes into these templates: NAME=VALUE.", example: "[title=News]",
            write: { listed($0.properties.map(written)) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.properties = texts
        },
        flag(
            "feedback",
            "Keep in a journal beside the registrations which devices are gone (410): later runs leave them out.",
            \.feedback),
        text(
            "topic", "apns-topic: the app's bundle id; suffixes are added by push type.",
            example: "com.example.app", \.topic),
        ScenarioKey(
            "priority", .number, "apns-priority: 10, 5 or 1; without it, the push type's own.", example: "10",
            write: { $0.priority.map { "\($0)" } }
        ) { (scenario, texts) throws(SettingsError) in
            guard let value = Int(try one(texts)), [1, 5, 10].contains(value) else {
                throw SettingsError("\"\(texts[0])\": expected 10, 5 or 1")
            }
            scenario.priority = value
        },
        ScenarioKey(
            "expiration", .number, "apns-expiration: UNIX seconds, or 0 to try once.", example: "0",
            write: { $0.expiration.map { "\($0)" } }
        ) { (scenario, texts) throws(SettingsError) in
            guard let value = Int64(try one(texts)), value >= 0 else {
                throw SettingsError("\"\(texts[0])\": expected UNIX seconds, or 0")
            }
            scenario.expiration = value
        },
        optional("collapse_id", "apns-collapse-id, at most 64 bytes.", example: "news", \.collapseID),
        flag("apns_id", "Send an apns-id of our own with every push.", \.apnsID),
        count("seed", "Seed of everything random.", \.seed),
        ScenarioKey(
            "threshold", .list,
            """
            What the run must hold, else it exits 99: p99 < 50ms, accepted >= 99.9%, rate >= 10k. Rates: rate \
            (answered), goodput (accepted), sent_rate; in an open loop offered too, and shares of it: rate >= 0.95 * target.
            """, example: "[p99 < 50ms, accepted >= 99.9%]", write: { listed($0.thresholds) }
        ) { (scenario, texts) throws(SettingsError) in
            for text in texts { _ = try Threshold.list(parsing: text) }
            scenario.thresholds = texts
        },
        ScenarioKey(
            "metrics_port", .count, "Answer GET /metrics (Prometheus) at this loopback port while the run goes on.",
            range: "1 to 65535", example: "9100", write: { $0.metricsPort.map { "\($0)" } }
        ) { (scenario, texts) throws(SettingsError) in
            guard let port = UInt16(try one(texts)), port > 0 else {
                throw SettingsError("\"\(texts[0])\": expected a port from 1 to 65535")
            }
            scenario.metricsPort = port
        },
        flag(
            "abort_on_fail",
            "End the run as soon as a threshold on total latency, a rate, failed or rejected pushes is seen to be crossed.",
            \.abortOnFail),
        duration(
            "abort_on_fail_window", "How far back abort_on_fail judges latency and rates.", range: "at least 1s",
            \.abortOnFailWindow),
        duration(
            "abort_on_fail_delay",
            "abort_on_fail judges nothing before so long after the start, and no latency of that time.",
            \.abortOnFailDelay),
        ScenarioKey(
            "expect_reasons", .list,
            """
            Rejections that are as wanted: reasons such as BadDeviceToken,Unregistered; statuses such as 503; none for answers \
            without a reason.
            """,
            example: "[BadDeviceToken, Unregistered]", write: { listed($0.expectedReasons) }
        ) { (scenario, texts) throws(SettingsError) in
            scenario.expectedReasons = words(texts)
        },
    ]
}
