#if NIO
    import Glibc
    import NIOCore
    import Networking
    import Transport

    extension Networking.SocketAddress {
        /// The same address for NIO.
        var forNIO: NIOCore.SocketAddress {
            withSockAddr { address, _ in
                if Int32(address.pointee.sa_family) == AF_INET6 {
                    return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                        NIOCore.SocketAddress($0.pointee)
                    }
                }
                return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    NIOCore.SocketAddress($0.pointee)
                }
            }
        }
    }

    extension Target {
        /// The host is an address, which TLS sends no SNI for (RFC 6066 section 3).
        var isNumericHost: Bool {
            var address = in6_addr()
            return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
        }
    }
#endif
