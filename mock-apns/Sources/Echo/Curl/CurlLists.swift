import CCurl
import Foundation

/// What all transfers of an echo have in common: lines of heads, and the addresses of the backend's name. libcurl reads them
/// wherever a transfer uses them, so that each transfer keeps this.
final class CurlLists {
    /// Of GET, and of POST.
    private(set) var getHeads: UnsafeMutablePointer<curl_slist>?
    private(set) var postHeads: UnsafeMutablePointer<curl_slist>?
    /// nil: the URL has an address itself.
    private(set) var addresses: UnsafeMutablePointer<curl_slist>?

    init(_ target: EchoTarget) {
        let authorization = "Authorization: Basic " + Data(target.credentials.utf8).base64EncodedString()
        for head in [authorization, "User-Agent: mock-apns"] {
            getHeads = curl_slist_append(getHeads, head)
            postHeads = curl_slist_append(postHeads, head)
        }
        for head in ["Content-Type: application/json", "Expect:"] { postHeads = curl_slist_append(postHeads, head) }
        let isAddress =
            target.host.contains(":") || target.addresses.contains { $0.description.hasPrefix(target.host + ":") }
        guard !isAddress else { return }
        let known = target.addresses.map { String($0.description.dropLast(1 + String(target.port).utf8.count)) }
        addresses = curl_slist_append(nil, "\(target.host):\(target.port):\(known.joined(separator: ","))")
    }

    deinit {
        for list in [getHeads, postHeads, addresses] { curl_slist_free_all(list) }
    }
}
