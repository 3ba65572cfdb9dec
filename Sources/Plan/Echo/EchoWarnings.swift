import Devices
import Settings

extension PlanWarnings {
    /// Doubts about a plan's echo.
    static func of(_ echo: EchoModel) -> [String] {
        var warnings: [String] = []
        let peak = echo.peak
        if echo.isVague, let high = peak.high, peak.value > 0 {
            warnings.append(
                "the peak of the echo is known to ±\(Units.fixed((high / peak.value - 1) * 100, places: 1)) %: of "
                    + "\(Units.counted(echo.sample.devices, "device")) \(Units.counted(echo.sample.requests.count, "request")) came"
            )
        }
        if echo.sample.requests.isEmpty {
            warnings.append(
                "none of \(Units.counted(echo.sample.devices, "device")) asked anything of the backend: few may, of many"
            )
        }
        if echo.question.backendTime.mean > Double(DeviceModel.workLimit) {
            func written(_ time: Double) -> String { Units.duration(nanoseconds: time) }
            warnings.append(
                "the backend takes \(written(echo.question.backendTime.mean)) on average: devices give up after "
                    + "\(written(Double(DeviceModel.workLimit))), so that most never have an answer")
        }
        return warnings
    }

    /// What its echo takes for granted.
    static func assumptions(_ echo: PlanDocument.Echo) -> [String] {
        let minutes = echo.timeOfDay / 60_000_000_000
        func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return [
            "devices are as model \(echo.deviceModel) says, are pushed once, from \(two(minutes / 60)):\(two(minutes % 60)) UTC on, "
                + "and nothing else",
            "their backend answers everything, "
                + (echo.backendTime > 0 ? "in \(Units.duration(nanoseconds: echo.backendTime)) on average" : "at once"),
        ]
    }
}
