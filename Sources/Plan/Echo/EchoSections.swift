import Devices
import Settings

/// The echo in a plan's report.
enum EchoSections {
    /// Rows of its tables, the first of each its head.
    static func of(_ echo: PlanDocument.Echo) -> [[[String]]] {
        func row(_ name: String, _ figure: PlanDocument.Figure, _ besides: String = "") -> [String] {
            [name, PlanReport.rate(figure.value), PlanReport.interval(figure, PlanReport.rate), besides]
        }
        var rows = [["devices ask their backend", "", "95 % interval", ""], row("requests", echo.requests)]
        if echo.laterThanHour.value > 0 { rows.append(row("of these, after more than 1 h", echo.laterThanHour)) }
        rows.append(
            row(
                "requests a second, at most", echo.peak,
                echo.peakAfter < 1 ? "from the first push on" : "from \(time(echo.peakAfter)) on"))
        rows.append(["requests a second, on average", PlanReport.rate(echo.mean), "", "while pushing"])
        if let open = echo.open {
            rows.append(
                row("open at once, at most", open, "answers take \(Units.duration(nanoseconds: echo.backendTime))"))
        }
        if let bandwidth = echo.bandwidth { rows.append(["bodies, at the peak", PlanReport.bits(bandwidth), "", ""]) }
        var kinds = [["asked for", "requests", "95 % interval", "half within", "99 % within"]]
        for kind in EchoRequest.Kind.allCases {
            guard let found = echo.byKind[kind.rawValue] else { continue }
            kinds.append([
                kind.rawValue, PlanReport.rate(found.requests.value),
                PlanReport.interval(found.requests, PlanReport.rate), time(found.half), time(found.most),
            ])
        }
        return kinds.count > 1 ? [rows, kinds] : [rows]
    }

    /// What was simulated, and what became of the goals.
    static func remarks(_ echo: PlanDocument.Echo) -> [String] {
        var lines = [
            "echo: \(Units.counted(echo.sampledDevices, "device")) simulated, model \(echo.deviceModel), seed \(echo.seed); pushes sent "
                + "over \(Units.duration(nanoseconds: echo.spread))"
        ]
        for goal in echo.goals {
            if goal.held {
                let room = goal.headroom.map { ", \(Units.fixed($0 * 100, places: 1)) % below the limit" } ?? ""
                lines.append("goal \(goal.text): reached\(room)")
            } else if let shortest = goal.shortest, let rate = goal.perSecond {
                lines.append(
                    "goal \(goal.text): missed; it takes \(roundedUp(shortest)), \(PlanReport.rate(rate, .down)) pushes a second"
                )
            } else {
                lines.append("goal \(goal.text): missed, however slowly pushes are sent")
            }
        }
        return lines
    }

    private static func time(_ nanoseconds: Double) -> String {
        nanoseconds < 1
            ? "at once"
            : nanoseconds >= 3600e9
                ? "\(Units.fixed(nanoseconds / 3600e9, places: 1)) h" : Units.duration(nanoseconds: nanoseconds)
    }

    /// No shorter than it is: as a duration is written, from 10 minutes on as `3h 08m` or `130d 09h`.
    static func roundedUp(_ nanoseconds: Double) -> String {
        func pair(_ smaller: Double, _ names: (String, String), _ count: UInt64) -> String {
            let whole = UInt64(min(nanoseconds / smaller, 1e15).rounded(.up))
            let rest = whole % count
            return "\(Units.grouped(whole / count))\(names.0) \(rest < 10 ? "0" : "")\(rest)\(names.1)"
        }
        if nanoseconds > 24 * 3600e9 { return pair(3600e9, ("d", "h"), 24) }
        if nanoseconds > 3600e9 { return pair(60e9, ("h", "m"), 60) }
        if nanoseconds > 600e9 { return pair(1e9, ("m", "s"), 60) }
        let unit = nanoseconds >= 1e9 ? 1e9 : nanoseconds >= 1e6 ? 1e6 : nanoseconds >= 1e3 ? 1e3 : 1
        let value = nanoseconds / unit
        let step = value > 99.9 ? 1.0 : value > 9.99 ? 0.1 : 0.01
        return Units.duration(nanoseconds: (value / step).rounded(.up) * step * unit)
    }
}
