// One push with Node's own http2. Usage: node push.js CREDENTIALS PORT DEVICE; the provider token is in TOKEN.
const http2 = require("http2");
const fs = require("fs");

// One session for all pushes: it stays open, as Apple asks.
function connect(credentials, port) {
  return http2.connect(`https://localhost:${port}`, { ca: fs.readFileSync(`${credentials}/ca.pem`) });
}

// Status, and the reason of a refusal: 410 means to forget the device, 429 and 503 to try again later.
function push(session, device, payload) {
  return new Promise((resolve, reject) => {
    const request = session.request({
      ":method": "POST",
      ":path": `/3/device/${device}`,
      authorization: process.env.TOKEN, // "bearer …": what mock-apns token prints, or your own signer
      "apns-topic": "com.example.app",
      "apns-push-type": "alert",
    });
    let status, body = "";
    request.setEncoding("utf8");
    request.on("response", (headers) => (status = headers[":status"]));
    request.on("data", (part) => (body += part));
    request.on("error", reject);
    request.on("end", () => resolve({ status, reason: body ? JSON.parse(body).reason : undefined }));
    request.end(JSON.stringify(payload));
  });
}

module.exports = { connect, push };

if (require.main === module) {
  const [credentials, port, device] = process.argv.slice(2);
  const session = connect(credentials, port);
  const fail = (error) => {
    console.error(error.message);
    process.exit(1);
  };
  session.on("error", fail);
  push(session, device, { aps: { alert: "hello" } })
    .then(({ status, reason }) => {
      if (status !== 200) throw Error(`${status} ${reason}`);
      console.log(status);
      session.close();
    })
    .catch(fail);
}
