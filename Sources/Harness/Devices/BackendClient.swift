import CCurl
import Foundation

/// What a provider asks of the app's backend before it pushes: `POST /api/notifications`, by libcurl.
enum BackendClient {
    private struct Answer: Decodable { let id: UInt64 }

    /// Stores a notification for everybody.
    ///
    /// - Parameters:
    ///   - backend: its URL, with the user's name and password where it says them.
    ///   - trusted: PEM file of the CA to trust; nil: those of the system.
    /// - Returns: its id.
    /// - Throws: one line when there is no answer within 30 s, or none that names an id.
    static func create(at backend: String, message: String, trusted: String?) throws(HarnessError) -> UInt64 {
        var place = backend
        while place.hasSuffix("/") { place.removeLast() }
        guard var components = URLComponents(string: place + "/api/notifications") else {
            throw HarnessError("device_backend \(backend): expected a URL such as http://127.0.0.1:8080")
        }
        let (user, password) = (
            components.user ?? "device", components.password ?? (components.user == nil ? "device" : "")
        )
        (components.user, components.password) = (nil, nil)
        let url = components.string ?? backend
        let body = #"{"message":"\#(message)","richType":"img","user":"*"}"#
        let answer: (status: Int, body: [UInt8])
        do { answer = try post(url, body, user: user, password: password, trusted: trusted) } catch {
            throw HarnessError("the backend did not take the notification: \(url): \(error.description)", .failed)
        }
        guard answer.status == 201 || answer.status == 200 else {
            let said = String(decoding: answer.body.prefix(200), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines).prefix { !$0.isNewline }
                .filter { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }
            throw HarnessError(
                "the backend did not take the notification: \(url) answered \(answer.status)\(said.isEmpty ? "" : ": ")\(said)",
                .failed)
        }
        guard let id = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)).id else {
            throw HarnessError(
                "the backend took the notification without an id: \(url): expected {\"id\": NUMBER}", .failed)
        }
        return id
    }

    /// A backend's URL without the devices' name and password.
    static func shown(_ backend: String) -> String {
        guard var components = URLComponents(string: backend) else { return "" }
        (components.user, components.password) = (nil, nil)
        return components.string ?? ""
    }

    private struct Failure: Error { let description: String }

    /// Longer answers are cut.
    private static let longest = 65_536

    private final class Gathered { var bytes: [UInt8] = [] }

    private static func post(
        _ url: String, _ body: String, user: String, password: String, trusted: String?
    ) throws(Failure) -> (Int, [UInt8]) {
        guard let easy = curl_easy_init() else { throw Failure(description: "no memory") }
        defer { curl_easy_cleanup(easy) }
        let headers = curl_slist_append(nil, "content-type: application/json")
        defer { curl_slist_free_all(headers) }
        let gathered = Gathered()
        pushload_curl_set_pointer(easy, CURLOPT_URL, url)
        pushload_curl_set_pointer(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        pushload_curl_set_pointer(easy, CURLOPT_PROXY, "")
        pushload_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        pushload_curl_set_long(easy, CURLOPT_TIMEOUT, 30)
        pushload_curl_set_long(easy, CURLOPT_HTTPAUTH, 1)
        pushload_curl_set_pointer(easy, CURLOPT_USERNAME, user)
        pushload_curl_set_pointer(easy, CURLOPT_PASSWORD, password)
        pushload_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
        pushload_curl_set_long(easy, CURLOPT_POSTFIELDSIZE, body.utf8.count)
        pushload_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, body)
        if let trusted { pushload_curl_set_pointer(easy, CURLOPT_CAINFO, trusted) }
        pushload_curl_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(gathered).toOpaque())
        pushload_curl_set_writer(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let gathered = Unmanaged<Gathered>.fromOpaque(context).takeUnretainedValue()
            let room = BackendClient.longest - gathered.bytes.count
            UnsafeRawBufferPointer(start: bytes, count: min(room, size * count)).withMemoryRebound(to: UInt8.self) {
                gathered.bytes += $0
            }
            return size * count
        }
        let code = withExtendedLifetime(gathered) { curl_easy_perform(easy) }
        guard code == CURLE_OK else { throw Failure(description: String(cString: curl_easy_strerror(code))) }
        var status = 0
        pushload_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        return (status, gathered.bytes)
    }
}
