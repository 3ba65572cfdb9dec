#!/usr/bin/env node
// A provider on Node's own http2 in an exam: one push to each device token over one connection. Usage: mock-apns exam -- node node_exam.js
//
// What Node leaves to its caller is written here: a new connection when one is lost, the wait for SETTINGS, how many pushes are under way
// (beyond the server's limit Node queues requests that are begun, with the token of then), a time-out for answers, and when a push may
// be sent again.
const crypto = require("crypto"), fs = require("fs"), http2 = require("http2");
const exam = process.env;
const timeout = Number(exam.EXAM_SECONDS) * 200;
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
let token;

function sign() {
  const text = `${part({ alg: "ES256", kid: exam.EXAM_KEY_ID })}.${part({ iss: exam.EXAM_TEAM_ID, iat: Math.floor(Date.now() / 1000) })}`;
  const key = { key: fs.readFileSync(exam.EXAM_KEY), dsaEncoding: "ieee-p1363" };
  token = `bearer ${text}.${crypto.sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}

let connecting;
// The connection, or the promise of one; waits longer after each failure.
function connection() {
  connecting ??= (async () => {
    for (let wait = 100; ; wait = Math.min(wait * 2, 2000)) {
      const session = http2.connect(exam.EXAM_URL, { ca: fs.readFileSync(exam.EXAM_CA) });
      const lost = () => {
        if (connecting?.session === session) connecting = undefined;
      };
      session.on("error", () => {}).on("goaway", lost).on("close", lost);
      const isReady = await new Promise((resolve) => {
        session.once("remoteSettings", () => resolve(true)).once("close", () => resolve(false));
      });
      if (isReady && !session.closed && !session.destroyed) {
        connecting.session = session;
        return session;
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  })();
  return connecting;
}

let underWay = 0;
const waiting = [];
// Waits for a free stream, and takes it; `leave` gives it back.
async function enter() {
  for (;;) {
    const session = await connection();
    if (underWay < session.remoteSettings.maxConcurrentStreams) {
      underWay++;
      return session;
    }
    await new Promise((resolve) => waiting.push(resolve));
  }
}

function leave() {
  underWay--;
  // SETTINGS may have changed: whoever waits looks again.
  for (const resolve of waiting.splice(0)) resolve();
}

// One try: { status, body, retryAfter }, or { error, isSafe } where isSafe says that the server has not processed it.
async function attempt(device) {
  const session = await enter();
  return new Promise((resolve) => {
    let request;
    try {
      request = session.request({
        ":method": "POST", ":path": `/3/device/${device}`, authorization: token, "apns-topic": exam.EXAM_TOPIC,
        "apns-push-type": "alert",
      });
    } catch (error) {
      return resolve({ error, isSafe: true });
    }
    let status, retryAfter, body = "";
    const used = token;
    request.setTimeout(timeout, () => {
      request.close(http2.constants.NGHTTP2_CANCEL);
      // A connection from which nothing comes is not used any longer.
      session.destroy();
    });
    request.on("response", (headers) => {
      status = headers[":status"];
      retryAfter = Number(headers["retry-after"] ?? 0);
    });
    request.on("data", (data) => (body += data));
    request.on("error", () => {});
    request.on("close", () => {
      if (status) return resolve({ status, body, retryAfter, used });
      const { NGHTTP2_REFUSED_STREAM } = http2.constants;
      resolve({ isSafe: request.rstCode === NGHTTP2_REFUSED_STREAM || request.id === undefined });
    });
    request.end('{"aps":{"alert":"hello"}}');
  });
}

async function push(device) {
  for (let wait = 250; ; wait = Math.min(wait * 2, 2000)) {
    const answer = await attempt(device).finally(leave);
    if (answer.status === 200) return;
    if (answer.status === 403 && answer.body.includes("ExpiredProviderToken")) {
      if (answer.used === token) sign();
      continue;
    }
    const isLater = answer.status === 429 || answer.status >= 500;
    if (!isLater && !answer.isSafe) return;
    await new Promise((resolve) => setTimeout(resolve, Math.max(wait, (answer.retryAfter ?? 0) * 1000)));
  }
}

sign();
const devices = fs.readFileSync(exam.EXAM_TOKENS, "utf8").split("\n").filter(Boolean);
Promise.all(devices.map(push)).then(() => process.exit(0));
