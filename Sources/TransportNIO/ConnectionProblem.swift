#if NIO
    import Glibc
    import NIOCore
    import NIOSSL
    import Transport

    /// What a connection ends with: the cause its unanswered pushes get, and one line for people.
    struct ConnectionProblem {
        let cause: FailureCause
        let text: String

        init(_ cause: FailureCause, _ text: String) {
            self.cause = cause
            self.text = text
        }

        /// - Parameter isConnecting: TCP or TLS was not there yet.
        init(_ error: any Error, isConnecting: Bool) {
            switch error {
            case let error as NIOSSLError where error == .uncleanShutdown:
                self.init(
                    isConnecting ? .tlsFailed : .connectionClosed,
                    isConnecting
                        ? "TLS handshake failed: the peer closed the connection" : "the peer closed the connection")
            case let error as NIOSSLExtraError where error == .failedToValidateHostname:
                self.init(.certificateUntrusted, "the peer's certificate is not trusted: it is for another name")
            case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
                if "\(error)".contains("CERTIFICATE_VERIFY_FAILED") {
                    self.init(.certificateUntrusted, "the peer's certificate is not trusted: \(error)")
                } else if isConnecting {
                    self.init(.tlsFailed, "TLS handshake failed: \(error)")
                } else {
                    self.init(.connectionReset, "TLS: \(error)")
                }
            case let error as IOError where error.errnoCode == ECONNREFUSED:
                self.init(.connectionRefused, "connection refused")
            case let error as IOError where isConnecting:
                self.init(.connectFailed, "cannot connect: \(error)")
            case is IOError: self.init(.connectionReset, "connection reset by the peer")
            case ChannelError.connectTimeout: self.init(.connectTimeout, "no TCP connection in time")
            case ChannelError.eof, ChannelError.inputClosed:
                self.init(.connectionClosed, "the peer closed the connection")
            default: self.init(isConnecting ? .connectFailed : .connectionReset, "\(error)")
            }
        }
    }
#endif
