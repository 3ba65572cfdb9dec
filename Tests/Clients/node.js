// Node's own http2: COUNT requests at once on a fresh connection. Usage: node.js FOLDER PORT COUNT [SETTINGS as JSON]
// Prints how many were answered with what. The provider token is in TOKEN.
const http2 = require("http2"), fs = require("fs");
const [folder, port, count, settings] = process.argv.slice(2);
const session = http2.connect(`https://localhost:${port}`, {
  ca: fs.readFileSync(`${folder}/ca.pem`),
  settings: JSON.parse(settings ?? "{}"),
});
const answers = {};
let left = Number(count);
const note = (what) => {
  answers[what] = (answers[what] ?? 0) + 1;
  if (--left === 0) {
    session.close();
    console.log(JSON.stringify({ version: `node ${process.version}`, answers }));
  }
};
session.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
for (let index = 0; index < Number(count); index++) {
  const request = session.request({
    ":method": "POST",
    ":path": `/3/device/${index.toString(16).padStart(64, "0")}`,
    authorization: process.env.TOKEN,
    "apns-topic": "com.example.app",
    "apns-push-type": "alert",
  });
  let isNoted = false;
  const once = (what) => {
    if (!isNoted) note(what);
    isNoted = true;
  };
  request.on("response", (headers) => once(headers[":status"]));
  request.on("error", (error) => once(error.message));
  request.on("close", () => once("closed without an answer"));
  request.resume();
  request.end('{"aps":{"alert":"hello"}}');
}
