import Devices
import Scenarios
import Settings

extension RunInputs {
    /// What is wrong with the device model that a scenario names, as the mock would say it later; nil: nothing, or there is none.
    static func problemOfDeviceModel(_ scenario: Scenario) -> String? {
        guard let name = scenario.deviceModel else { return nil }
        do throws(SettingsError) { _ = try DeviceModelFile.named(name, orPipe: false) } catch {
            return "device_model: \(error)"
        }
        return nil
    }
}
